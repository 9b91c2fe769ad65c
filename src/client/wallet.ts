import {
  BrowserProvider,
  type Eip1193Provider,
  isError,
  type Provider,
  type Signer,
  type TypedDataDomain,
  type TypedDataField,
} from 'ethers'
import { checksum } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { assertSignedBy, normalizeSignature } from '../protocol/signature.js'
import { ClientError, type ClientErrorCode } from './errors.js'
import { toTradingError, walletFailure } from './foreignErrors.js'
import { abortable } from './retry.js'

/** The code of an EOA with an EIP-7702 delegation; the account still signs with its own key. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i

/** Typed data and its digest, so that the wallet's signature can be verified. */
interface TypedData {
  readonly domain: TypedDataDomain
  readonly types: Record<string, TypedDataField[]>
  readonly message: Record<string, unknown>
  readonly digest: Hex
}

type Transaction = Parameters<Signer['sendTransaction']>[0]
type Sent = Awaited<ReturnType<Signer['sendTransaction']>>
/** The questions to the chain's node. They fail as the methods of `Wallet` do, or with ethers' CALL_EXCEPTION. */
type ChainReads = Pick<
  Provider,
  'call' | 'estimateGas' | 'getBlockNumber' | 'getBlock' | 'getLogs' | 'getCode'
>

/**
 * The caller's wallet: an externally owned account, with the chain behind it. No error of ethers or of the wallet leaves
 * it raw: methods throw ClientError `node-unavailable`, `wallet-busy`, `no-account`, `insufficient-funds`, `unexpected`.
 */
export interface Wallet {
  readonly reads: ChainReads
  /** A raw JSON-RPC call, which fails with the provider's own error; undefined for a provider without any. */
  readonly request: ((method: string, params: unknown[]) => Promise<unknown>) | undefined
  /** The maximum time until a transaction is mined. */
  readonly miningTimeoutMs: number
  readonly signal: AbortSignal | undefined
  account(): Promise<Hex>
  chainId(): Promise<number>
  /** EIP-191 `personal_sign`, exactly as the wallet returns it. @throws ClientError `signature-refused` */
  signText(text: string): Promise<Hex>
  /**
   * EIP-712, low-s with `v` 27 or 28, verified against the account.
   * @throws ClientError `signature-refused`, `signature-invalid`
   */
  signTyped(data: TypedData): Promise<Hex>
  /** @throws ClientError `transaction-refused`, or ethers' CALL_EXCEPTION */
  sendTransaction(transaction: Transaction): Promise<Sent>
  /** @throws ClientError `contract-wallet`: the enclave verifies ECDSA signatures, which a contract cannot make */
  assertExternallyOwned(): Promise<void>
  /** The same wallet, whose calls end when the signal aborts. A request that the user has open stays open in the wallet. */
  until(signal: AbortSignal | undefined): Wallet
}

interface WalletDeps {
  readonly provider: Provider
  readonly signer: () => Promise<Signer>
  readonly miningTimeoutMs: number
}

/**
 * @param given an ethers signer with a provider, or an EIP-1193 provider such as `window.ethereum`
 * @throws ClientError `no-provider`
 */
export function createWallet(given: Signer | Eip1193Provider, miningTimeoutMs: number): Wallet {
  if (isEip1193(given)) {
    // The wallet's chain may change at any time, so ethers asks for it on each use.
    const provider = new BrowserProvider(given, 'any', { pollingInterval: POLLING_MS })
    return walletOf({ provider, signer: retriedOnce(() => provider.getSigner()), miningTimeoutMs })
  }
  const { provider } = given
  if (!provider) throw new ClientError('no-provider', 'Connect the signer to a provider first.')
  return walletOf({ provider, signer: async () => given, miningTimeoutMs })
}

const POLLING_MS = 1_000

function isEip1193(given: Signer | Eip1193Provider): given is Eip1193Provider {
  return 'request' in given && typeof given.request === 'function'
}

/** Callers share one answer; a failure is asked for again. */
function retriedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined
      throw error
    })
    return answer
  }
}

function walletOf(deps: WalletDeps, signal?: AbortSignal): Wallet {
  const { provider, miningTimeoutMs } = deps
  const guarded = <T>(ask: () => Promise<T>, refused?: ClientErrorCode) => guard(ask, { signal, refused })
  const signer = () => guarded(deps.signer, 'no-account')
  const account = async () => checksum(await (await signer()).getAddress())
  const request = 'send' in provider && typeof provider.send === 'function' ? provider.send : undefined
  return {
    reads: {
      call: (transaction) => guarded(() => provider.call(transaction)),
      estimateGas: (transaction) => guarded(() => provider.estimateGas(transaction)),
      getBlockNumber: () => guarded(() => provider.getBlockNumber()),
      getBlock: (block, prefetch) => guarded(() => provider.getBlock(block, prefetch)),
      getLogs: (filter) => guarded(() => provider.getLogs(filter)),
      getCode: (address, block) => guarded(() => provider.getCode(address, block)),
    },
    request: request?.bind(provider),
    miningTimeoutMs,
    signal,
    account,
    chainId: async () => Number((await guarded(() => provider.getNetwork())).chainId),
    async signText(text) {
      const by = await signer()
      return hexOf(await guarded(() => by.signMessage(text), 'signature-refused'))
    },
    async signTyped({ domain, types, message, digest }) {
      const by = await signer()
      const signature = await guarded(() => by.signTypedData(domain, types, message), 'signature-refused')
      return checked(await account(), digest, hexOf(signature))
    },
    async sendTransaction(transaction) {
      const by = await signer()
      return guarded(() => by.sendTransaction(transaction), 'transaction-refused')
    },
    async assertExternallyOwned() {
      const address = await account()
      const code = await guarded(() => provider.getCode(address))
      if (code !== '0x' && !DELEGATION.test(code)) {
        throw new ClientError(
          'contract-wallet',
          'This wallet is a contract. Use a wallet that signs with its own key.',
        )
      }
    },
    until: (other) => (other === undefined ? walletOf(deps, signal) : walletOf(deps, other)),
  }
}

const hexOf = (text: string): Hex => `0x${text.slice(2)}`

interface GuardOptions {
  readonly signal: AbortSignal | undefined
  readonly refused?: ClientErrorCode | undefined
}

/** Fails with this library's errors, ethers' CALL_EXCEPTION, or the signal's reason as soon as it aborts. */
async function guard<T>(ask: () => Promise<T>, { signal, refused }: GuardOptions): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await abortable(ask(), signal)
  } catch (error) {
    signal?.throwIfAborted()
    // ethers takes any failure of a call for a revert without data.
    const isRevert = isError(error, 'CALL_EXCEPTION') && walletFailure(error) === null
    throw isRevert ? error : toTradingError(error, refused)
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
