import { hashMessage } from 'ethers'
import type { IsSignedBy } from '../chain/accountSignature.js'
import { addressSchema, sameAddress } from '../protocol/address.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { type Call, type ChainReads, createChainReads, type Receipt, waitUntilMined } from './chainReads.js'
import { ClientError, type ClientErrorCode, mayBePending } from './errors.js'
import { callFailure, INSUFFICIENT_FUNDS, toTradingError } from './foreignErrors.js'
import { later, untilAnswered } from './later.js'
import {
  type AccountHolder,
  accountHolderOf,
  type OutgoingTransaction,
  type Request,
  type TypedMessage,
  type WalletSource,
} from './provider.js'
import { abortable, nodeAnswer } from './retry.js'

/** The code of an EOA with an EIP-7702 delegation. Its wallet signs with the account's own key, or as the delegate takes it. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i

/** Headroom for state that changes between estimate and block: a balance that is zero by then costs 17,100 more (EIP-2200). */
const GAS_LIMIT_PERCENT = 150n

/** Typed data and its digest, so that the wallet's signature can be verified. */
interface TypedData extends TypedMessage {
  readonly digest: Hex
}

/**
 * The caller's wallet: an externally owned account, with the chain behind it. No error of ethers or of the wallet leaves
 * it raw: methods throw ClientError `node-unavailable`, `wallet-busy`, `no-account`, `insufficient-funds`, `unexpected`.
 */
export interface Wallet {
  /** Questions to the chain's node. `call` and `estimateGas` fail with CallReverted too. */
  readonly reads: ChainReads
  /** A raw JSON-RPC call, which fails with the provider's own error. */
  readonly request: Request
  /** The maximum time until a transaction is mined. */
  readonly miningTimeoutMs: number
  readonly signal: AbortSignal | undefined
  account(): Promise<Hex>
  chainId(): Promise<number>
  /** Binds all that is sent from now on to the chain of the contracts. */
  bind(chainId: number): void
  /** The chain that it is bound to, and on. @throws ClientError `wrong-chain` */
  boundChainId(): Promise<number>
  /**
   * EIP-191 `personal_sign`, verified against the account: low-s with `v` 27 or 28, or as a contract wallet takes it (ERC-1271).
   * @throws ClientError `signature-refused`, `signature-invalid`
   */
  signText(text: string): Promise<Hex>
  /** EIP-712, verified likewise. @throws ClientError `signature-refused`, `signature-invalid` */
  signTyped(data: TypedData): Promise<Hex>
  /** Whether an account signed a digest, by its key or as a contract. */
  isSignedBy: IsSignedBy
  /**
   * Sends a call as a transaction and waits until it is mined, whether it succeeds or reverts.
   * @throws CallReverted if wallet or node refuses to send it because it would revert
   * @throws ClientError `wrong-chain`, `transaction-refused`, `transaction-pending`, `transaction-replaced`
   */
  send(call: Call & Pick<OutgoingTransaction, 'from'>): Promise<Receipt>
  /**
   * Refuses a contract, and an account with a delegation whose last signature was not of its key.
   * @throws ClientError `contract-wallet` for what only an account's own key can sign
   */
  assertExternallyOwned(): Promise<void>
  /** The same wallet, whose calls end when the signal aborts. A request that the user has open stays open in the wallet. */
  until(signal: AbortSignal | undefined): Wallet
}

interface WalletDeps {
  readonly holder: AccountHolder
  readonly account: () => Promise<string>
  readonly miningTimeoutMs: number
  /** The accounts whose last signature was a contract's. */
  readonly contracts: Set<Hex>
  /** What it is bound to. */
  readonly bound: { chainId?: number }
}

/**
 * @param given such as `window.ethereum`
 * @throws ClientError `no-provider`
 */
export function createWallet(
  given: WalletSource,
  options: {
    readonly miningTimeoutMs: number
    /** The account to use; by default the signer's, or the first one that the browser's wallet reveals. */
    readonly account?: Hex | undefined
  },
): Wallet {
  const { miningTimeoutMs, account } = options
  const holder = accountHolderOf(given)
  const accountOf = untilAnswered(async () => {
    const own = await holder.account(account)
    if (account === undefined || sameAddress(own, account)) return own
    throw new ClientError('no-account', `The wallet is of ${own}, and not of ${account}.`)
  })
  return walletOf({ holder, miningTimeoutMs, account: accountOf, contracts: new Set(), bound: {} })
}

function walletOf(deps: WalletDeps, signal?: AbortSignal): Wallet {
  const { holder, miningTimeoutMs } = deps
  const guarded = <T>(ask: () => Promise<T>, meaning: (error: unknown) => Error = toTradingError) =>
    guard(ask, signal, meaning)
  const refusedAs = (refused: ClientErrorCode) => (error: unknown) => toTradingError(error, refused)
  const reads = createChainReads((method, params) =>
    guarded(
      () => nodeAnswer(holder.request(method, params), signal),
      CALLS.has(method) ? callFailure : toTradingError,
    ),
  )
  const account = async () => addressSchema.parse(await guarded(deps.account, refusedAs('no-account')))

  const reader = later(
    () => import('./walletSignature.js'),
    ({ createSignatureReader }) => createSignatureReader(reads),
  )

  /** Has all code before it asks: a signature that was given is not lost for want of some. */
  async function signedBy(by: Hex, digest: Hex, ask: () => Promise<string>): Promise<Hex> {
    const { read } = await reader(signal)
    const found = await read(by, digest, hexOf(await guarded(ask, refusedAs('signature-refused'))))
    if (found === null) {
      throw new ClientError('signature-invalid', `The wallet's signature does not belong to ${by}.`)
    }
    if (found.isOfKey) deps.contracts.delete(by)
    else deps.contracts.add(by)
    return found.signature
  }

  async function hashOf(transaction: OutgoingTransaction): Promise<Hex> {
    try {
      return bytes32Schema.parse(await abortable(holder.send(transaction), signal))
    } catch (error) {
      signal?.throwIfAborted()
      const failure = toTradingError(error, 'transaction-refused')
      if (failure.code !== 'unexpected') throw failure
      // Nodes have no code for it, so this is a guess: the transaction may have cost what is missing.
      if (await isShort(transaction)) {
        throw new ClientError('insufficient-funds', INSUFFICIENT_FUNDS, { cause: failure })
      }
      throw callFailure(error)
    }
  }
  async function isShort({ from, gasLimit }: OutgoingTransaction): Promise<boolean> {
    const [balance, gasPrice] = await Promise.all([reads.balance(from), reads.gasPrice()])
    return balance < gasLimit * gasPrice
  }

  async function boundChainId(): Promise<number> {
    const chainId = await reads.chainId()
    const { chainId: bound = chainId } = deps.bound
    if (chainId !== bound) throw wrongChain(chainId, bound)
    return chainId
  }

  return {
    reads,
    request: holder.request,
    miningTimeoutMs,
    signal,
    account,
    isSignedBy: async (...signed) => (await reader(signal)).isSignedBy(...signed),
    chainId: reads.chainId,
    bind(chainId) {
      deps.bound.chainId = chainId
    },
    boundChainId,
    async signText(text) {
      const by = await account()
      return signedBy(by, hexOf(hashMessage(text)), () => holder.signText(text, by))
    },
    async signTyped({ digest, ...typed }) {
      const by = await account()
      return signedBy(by, digest, () => holder.signTyped(typed, by))
    },
    async send(call) {
      const chainId = await boundChainId()
      const [gas, since] = await Promise.all([reads.estimateGas(call), reads.blockNumber()])
      try {
        const hash = await hashOf({ ...call, chainId, gasLimit: (gas * GAS_LIMIT_PERCENT) / 100n })
        return await waitUntilMined(reads, { hash, call, since, timeoutMs: miningTimeoutMs, signal })
      } catch (error) {
        throw mayBePending(error)
      }
    },
    async assertExternallyOwned() {
      const by = await account()
      const code = await reads.code(by)
      if (code === '0x' || (DELEGATION.test(code) && !deps.contracts.has(by))) return
      throw new ClientError(
        'contract-wallet',
        'This wallet signs as a contract, by no key of its own: draw a portfolio key, and open orders by its transactions.',
      )
    },
    until: (other) => (other === undefined ? walletOf(deps, signal) : walletOf(deps, other)),
  }
}

/** For a wallet that is on another chain than the platform. */
export function wrongChain(chainId: number, expected: number): ClientError {
  return new ClientError('wrong-chain', `Switch the wallet from chain ${chainId} to chain ${expected}.`)
}

/** The methods that run a contract, and so may revert. */
const CALLS = new Set(['eth_call', 'eth_estimateGas'])

const hexOf = (text: string): Hex => `0x${text.slice(2)}`

/**
 * Fails with this library's errors, or with the signal's reason as soon as it aborts.
 * @param meaning the failure that an error of ethers, wallet or node means
 */
export async function guard<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
  meaning: (error: unknown) => Error,
): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await abortable(ask(), signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw meaning(error)
  }
}
