import { isError, type Provider, type Signer, type TypedDataDomain, type TypedDataField } from 'ethers'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { assertSignedBy, normalizeSignature } from '../protocol/signature.js'
import { ClientError } from './errors.js'

/** The code of an EOA with an EIP-7702 delegation; the account still signs with its own key. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i

/** Typed data and its digest, so that the wallet's signature can be verified. */
interface TypedData {
  readonly domain: TypedDataDomain
  readonly types: Record<string, TypedDataField[]>
  readonly message: Record<string, unknown>
  readonly digest: Hex
}

/** The caller's wallet: an ethers signer of an externally owned account, with a provider. */
export interface Wallet {
  readonly signer: Signer
  readonly provider: Provider
  /** The maximum time until a transaction is mined. */
  readonly miningTimeoutMs: number
  account(): Promise<Hex>
  chainId(): Promise<number>
  /** EIP-191 `personal_sign`, exactly as the wallet returns it. @throws ClientError `signature-refused` */
  signText(text: string): Promise<Hex>
  /**
   * EIP-712, low-s with `v` 27 or 28, verified against the account.
   * @throws ClientError `signature-refused`, `signature-invalid`
   */
  signTyped(data: TypedData): Promise<Hex>
  /** @throws ClientError `contract-wallet`: the enclave verifies ECDSA signatures, which a contract cannot make */
  assertExternallyOwned(): Promise<void>
}

/** @throws ClientError `no-provider` */
export function createWallet(signer: Signer, miningTimeoutMs: number): Wallet {
  const { provider } = signer
  if (!provider) throw new ClientError('no-provider', 'Connect the signer to a provider first.')
  const account = async () => checksum(await signer.getAddress())
  return {
    signer,
    provider,
    miningTimeoutMs,
    account,
    chainId: async () => Number((await provider.getNetwork()).chainId),
    signText: (text) => signed(() => signer.signMessage(text)),
    async signTyped({ domain, types, message, digest }) {
      const signature = await signed(() => signer.signTypedData(domain, types, message))
      return checked(await account(), digest, signature)
    },
    async assertExternallyOwned() {
      const code = await provider.getCode(await signer.getAddress())
      if (code !== '0x' && !DELEGATION.test(code)) {
        throw new ClientError(
          'contract-wallet',
          'This wallet is a contract. Use a wallet that signs with its own key.',
        )
      }
    },
  }
}

async function signed(ask: () => Promise<string>): Promise<Hex> {
  try {
    return `0x${(await ask()).slice(2)}`
  } catch (error) {
    if (!isError(error, 'ACTION_REJECTED')) throw error
    throw new ClientError('signature-refused', 'The signature was rejected in the wallet.', { cause: error })
  }
}

function checked(account: Hex, digest: Hex, signature: Hex): Hex {
  try {
    const normal = normalizeSignature(signature)
    assertSignedBy(account, digest, normal)
    return normal
  } catch (error) {
    throw new ClientError('signature-invalid', `The wallet's signature does not belong to ${account}.`, {
      cause: error,
    })
  }
}
