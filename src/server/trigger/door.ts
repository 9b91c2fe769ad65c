// The enclave's door: where it is, and its answer to a challenge.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Signers } from '../../chain/authorityView.js'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import { signRunMessage } from '../../protocol/runMessage.js'
import { createPost, type PostAnswer } from '../../service/post.js'
import type { Secret } from '../../service/secret.js'
import { createTimedValue } from '../../service/waiting.js'
import { Problem } from '../http/errors.js'

/** Where the enclave takes jobs. Rejects where none of several can be in force. */
export type DoorUrl = () => Promise<string>

const ASKED_EVERY_MS = 1_000
const HEALTH_TIMEOUT_MS = 2_000
const healthSchema = z.object({ signer: addressSchema })

/**
 * The enclave whose signatures the chain takes, where there are several during an upgrade. It is only a choice: the contracts refuse what
 * the others sign.
 */
export function createDoorUrl(
  secret: Secret<readonly string[]>,
  signers: () => Promise<Pick<Signers, 'signer'>>,
): DoorUrl {
  const urls = secret.reveal()
  const [only] = urls
  if (only !== undefined && urls.length === 1) return async () => only
  const get = createPost({ timeoutMs: HEALTH_TIMEOUT_MS, maxConnections: urls.length })
  return createTimedValue(ASKED_EVERY_MS, async () => {
    const { signer } = await signers()
    const asked = urls.map(async (url) => {
      const { text } = await get(url, {}, undefined, '/health')
      if (!sameAddress(healthSchema.parse(JSON.parse(text)).signer, signer)) throw new Error('not in force')
      return url
    })
    return Promise.any(asked)
  })
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
  let isUnderWay = false

  async function ask(nonce: Hex): Promise<PostAnswer> {
    const body = nonce.slice(2)
    const headers = signRunMessage(door.secret.reveal(), { kind: 'challenge', runId: randomUUID(), body })
    return send(await door.url(), { ...headers }, undefined, `/attestation?nonce=${body}`)
  }

  return async (nonce: Hex, charge: () => void): Promise<Attestation> => {
    if (isUnderWay) throw new Problem('enclave-unavailable')
    charge()
    isUnderWay = true
    try {
      return answerOf(await ask(nonce))
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('enclave-unavailable', { cause: error })
    } finally {
      isUnderWay = false
    }
  }
}

/** An enclave with keys from files has no such route. */
function answerOf({ status, text }: PostAnswer): Attestation {
  if (status === 404) throw new Problem('unattested-enclave')
  if (status !== 200) throw new Problem('enclave-unavailable')
  return attestationSchema.parse(JSON.parse(text))
}
