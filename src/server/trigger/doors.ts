import { z } from 'zod'
import type { Signers } from '../../chain/authorityView.js'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import { createPost } from '../../service/post.js'
import type { Secret } from '../../service/secret.js'
import { createTimedValue } from '../../service/waiting.js'

/** Where the enclave takes jobs. Rejects where none of several can be in force. */
export type DoorUrl = () => Promise<string>

const ASKED_EVERY_MS = 1_000
const TIMEOUT_MS = 2_000
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
  const get = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: urls.length })
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
