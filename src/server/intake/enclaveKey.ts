import { Contract, type Provider } from 'ethers'
import { orderEscrowAbi } from '../../chain/generated/orderEscrowAbi.js'
import { addressSchema } from '../../protocol/address.js'
import type { EnclaveKey } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'

/** The sealing scheme's name: ECIES over secp256k1, HKDF-SHA256, AES-256-GCM (docs/protocol.md). */
const SCHEME = 'service-ecies-v1'

/**
 * What a client needs to seal an intent and open its escrow. The USDC address is an immutable of the escrow: read
 * once, then kept.
 */
export function createEnclaveKey(options: {
  readonly provider: Provider
  readonly publicKey: Hex
  readonly chainId: number
  readonly escrow: Hex
}): () => Promise<EnclaveKey> {
  const { provider, publicKey, chainId, escrow } = options
  const contract = new Contract(escrow, orderEscrowAbi, provider)
  let usdc: Hex | undefined
  return async () => {
    usdc ??= addressSchema.parse(await contract.getFunction('usdc').staticCall())
    return { publicKey, chainId, escrow, scheme: SCHEME, usdc }
  }
}
