import { isError, type Provider, type Signer, type TypedDataDomain, type TypedDataField } from 'ethers'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { assertSignedBy, normalizeSignature } from '../protocol/signature.js'
import { ClientError } from './errors.js'

/** What an EOA with an EIP-7702 delegation shows as its code; it still signs with its own key. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i

/** Typed data and the digest that it has, so that the wallet's signature can be checked against it. */
export interface TypedData {
  readonly domain: TypedDataDomain
  readonly types: Record<string, TypedDataField[]>
  readonly message: Record<string, unknown>
  readonly digest: Hex
}

/** The caller's wallet: an ethers signer of an externally owned account, with a provider. */
export interface Wallet {
  readonly signer: Signer
  readonly provider: Provider
  /** How long its transactions may take until they are mined. */
  readonly miningTimeoutMs: number
  account(): Promise<Hex>
  chainId(): Promise<number>
  /** EIP-191 `personal_sign`, as the wallet gives it. @throws ClientError `signature-refused` */
  signText(text: string): Promise<Hex>
  /**
   * EIP-712, low-s with `v` 27 or 28, checked to be the account's.
   * @throws ClientError `signature-refused`, `signature-invalid`
   */
  signTyped(data: TypedData): Promise<Hex>
  /** @throws ClientError `contract-wallet`: its signatures are not ECDSA signatures, which the enclave checks */
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
          'This wallet is a contract. Use one whose account signs with its own key.',
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
    throw new ClientError('signature-refused', 'The signature was refused in the wallet.', { cause: error })
  }
}

function checked(account: Hex, digest: Hex, signature: Hex): Hex {
  try {
    const normal = normalizeSignature(signature)
    assertSignedBy(account, digest, normal)
    return normal
  } catch (error) {
    throw new ClientError('signature-invalid', `The wallet's signature is not one of ${account}.`, {
      cause: error,
    })
  }
}
