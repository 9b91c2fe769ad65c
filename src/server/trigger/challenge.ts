import { randomUUID } from 'node:crypto'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import { signRunMessage } from '../../protocol/runMessage.js'
import { createPost, type PostAnswer } from '../../service/post.js'
import type { Secret } from '../../service/secret.js'
import { Problem } from '../http/errors.js'
import type { DoorUrl } from './doors.js'

/** A device signs within a second. */
const TIMEOUT_MS = 5_000

/**
 * Asks the enclave for fresh evidence with a nonce of 32 bytes, for one caller at a time.
 * @param door where jobs are posted to, and what signs them
 * @returns `charge` is called for those that are asked; throws Problem `unattested-enclave`, `enclave-unavailable`
 */
export function createChallenge(door: { readonly url: DoorUrl; readonly secret: Secret }) {
  const send = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: 1 })
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
