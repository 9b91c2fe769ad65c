// The enclave's door: where it is, and its answer to a challenge.
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Signers } from '../../chain/authorityView.js'
import { addressSchema, sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import { jsonOf } from '../../protocol/json.js'
import { signRunMessage } from '../../protocol/runMessage.js'
import { createPost, type PostAnswer } from '../../service/post.js'
import type { Secret } from '../../service/secret.js'
import { createTimedValue, oneAtATime } from '../../service/waiting.js'
import { Problem } from '../http/errors.js'

/** Where the enclave accepts jobs. Rejects where none of several can be in force. */
export type DoorUrl = () => Promise<string>

const ASKED_EVERY_MS = 1_000
/** A check of `/readyz` waits for longer. */
const HEALTH_TIMEOUT_MS = 1_500
/** A program in front of an enclave may say nothing of it. */
const healthSchema = z.object({ signer: z.optional(addressSchema), keys: z.optional(z.string()) })

/**
 * The enclave's door. Where there are several enclaves during an upgrade, that of the one whose signatures the chain accepts. It is only a
 * choice: the contracts refuse what the others sign.
 */
export function createDoor(
  secret: Secret<readonly string[]>,
  signers: () => Promise<Pick<Signers, 'signer'>>,
) {
  const urls = secret.reveal()
  const [only] = urls.length === 1 ? urls : []
  const get = createPost({ timeoutMs: HEALTH_TIMEOUT_MS, maxConnections: urls.length })
  const healthOf = async (url: string) => {
    const { status, text } = await get(url, { Connection: 'close' }, undefined, '/health')
    // A proxy's answer for a program behind it that does not answer.
    if (status >= 500) throw new Error(`answers ${status}`)
    return healthSchema.safeParse(jsonOf(text)).data
  }
  const inForce = createTimedValue(ASKED_EVERY_MS, async () => {
    const { signer } = await signers()
    const asked = urls.map(async (url) => {
      if (!sameAddress((await healthOf(url))?.signer ?? ZERO_ADDRESS, signer)) throw new Error('not in force')
      return url
    })
    return Promise.any(asked)
  })
  return {
    url: only === undefined ? inForce : async () => only,
    /** Why it accepts no jobs, or null. Only a signed job would show that it is the enclave. Rejects where the chain does not say which. */
    async fault() {
      if (only === undefined) await signers()
      if (only === undefined && (await inForce().catch(() => undefined)) !== undefined) return null
      const answers = await Promise.all(urls.map(healthOf)).catch(() => undefined)
      if (answers?.some((health) => health?.keys === 'awaited')) return 'enclave-keys-awaited'
      return answers === undefined || only === undefined ? 'enclave-host-unreachable' : null
    },
  }
}

/** A device signs within a second. */
const CHALLENGE_TIMEOUT_MS = 5_000

/**
 * Asks the enclave for fresh evidence with a nonce of 32 bytes, for one caller at a time.
 * @param door where jobs are posted to, and what signs them
 * @returns `charge` is called for those that are asked; throws Problem `unattested-enclave`, `enclave-unavailable`
 */
export function createChallenge(door: { readonly url: DoorUrl; readonly secret: Secret }) {
  const send = createPost({ timeoutMs: CHALLENGE_TIMEOUT_MS, maxConnections: 1 })
  const ask = oneAtATime(async (nonce: Hex, charge: () => void) => {
    charge()
    const body = nonce.slice(2)
    const headers = signRunMessage(door.secret.reveal(), { kind: 'challenge', runId: randomUUID(), body })
    return answerOf(await send(await door.url(), { ...headers }, undefined, `/attestation?nonce=${body}`))
  })

  return async (nonce: Hex, charge: () => void): Promise<Attestation> => {
    const answer = await ask(nonce, charge).catch((error: unknown) => {
      throw error instanceof Problem ? error : new Problem('enclave-unavailable', { cause: error })
    })
    if (answer === 'busy') throw new Problem('enclave-unavailable')
    return answer
  }
}

/** An enclave with keys from files has no such route. */
function answerOf({ status, text }: PostAnswer): Attestation {
  if (status === 404) throw new Problem('unattested-enclave')
  if (status !== 200) throw new Problem('enclave-unavailable')
  return attestationSchema.parse(JSON.parse(text))
}
