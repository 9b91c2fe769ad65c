import type { OrderEscrow } from '../../chain/orderEscrow.js'
import type { EnclaveKey } from '../../protocol/api.js'
import { ENVELOPE_SCHEME } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { createTimedValue } from '../async/timedValue.js'

/**
 * What a client needs to seal an intent and open its escrow. The USDC address is an immutable of the escrow: once it has
 * been read, the very same object is given. Until then it is asked for once for all who wait, and rejects as the chain does.
 */
export function createEnclaveKey(options: {
  readonly publicKey: Hex
  readonly chainId: number
  readonly escrow: Pick<OrderEscrow, 'address' | 'usdc'>
}): () => Promise<EnclaveKey> {
  const { publicKey, chainId, escrow } = options
  return createTimedValue(Number.POSITIVE_INFINITY, async () => ({
    publicKey,
    chainId,
    escrow: escrow.address,
    scheme: ENVELOPE_SCHEME,
    usdc: await escrow.usdc(),
  }))
}
