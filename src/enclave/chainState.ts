import type { JsonRpcApiProvider } from 'ethers'
import { z } from 'zod'
import { createAuthority } from '../chain/authority.js'
import type { ViewCaller } from '../chain/contractReader.js'
import { type Contracts, createContracts } from '../chain/contracts.js'
import { ChainAnswerError } from '../chain/errors.js'
import { toQuantity } from '../chain/quantity.js'
import { createUsdc, type Usdc } from '../chain/usdc.js'
import type { ContractAddresses } from '../protocol/api.js'
import { authorizationTargets, type PrimaryType } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import { createBlockCache } from './blockCache.js'
import { type BlockPoint, createHeads, type Heads, type HeadsOptions, type Look } from './heads.js'

/** The chain as one run sees it, through the enclave's own nodes. All throw ChainUnavailableError, ChainAnswerError. */
export interface ChainState extends Contracts {
  readonly chainId: number
  readonly addresses: ContractAddresses
  /**
   * The newest block and the one at the stated depth, as both operators' nodes have them.
   * @throws ChainAnswerError when the head is older than the bound, or lower than before, or the nodes disagree
   */
  look(): Promise<Look>
  /** As `look`, after a pause that all runs share. */
  lookLater(): Promise<Look>
  /** The same chain by requests of its own, none of whose answers is shared: right before an order is sent. */
  readonly alone: Pick<ChainState, 'look' | 'escrow' | 'ledger' | 'pausedUntil'>
  usdc(): Promise<Usdc>
  /** Whether an authorization has taken effect at a block, by the first node alone: nothing is decided by it. */
  isUsed(primaryType: PrimaryType, digest: Hex, block: BlockPoint): Promise<boolean>
  /** Unix seconds at which the platform's pause ends; 0 when it is not paused. */
  pausedUntil(block: BlockPoint): Promise<number>
  /** Unix seconds of the escrow's creation. */
  deployedAt(): Promise<number>
}

export interface ChainOptions extends Omit<HeadsOptions, 'onShorter'> {
  readonly chainId: number
  readonly addresses: ContractAddresses
}

/** The chain as all runs of a process share it: one look at each new head, and each view of a block once. */
export interface SharedChain {
  /** A run never sees a head below one that it has seen. */
  forRun(): ChainState
}

/** For a single run, or a program that looks once. */
export function createChainState(options: Omit<ChainOptions, 'pollMs'>): ChainState {
  return createSharedChain({ ...options, pollMs: 0 }).forRun()
}

export function createSharedChain(options: ChainOptions): SharedChain {
  const { provider, witness, chainId, addresses } = options
  const first = callerOf(provider)
  const agreed = witness ? agreeing(first, callerOf(witness)) : first
  const views = createBlockCache(agreed)
  const firstViews = createBlockCache(first)
  const contracts = createContracts(views, addresses)
  const uncached = createContracts(agreed, addresses)
  const ofFirst = createContracts(firstViews, addresses)
  const constants = {
    usdc: once(async () => createUsdc(views, await contracts.escrow.usdc())),
    authority: once(async () => createAuthority(views, await contracts.escrow.authority())),
    authorityUncached: once(async () => createAuthority(agreed, await contracts.escrow.authority())),
    deployedAt: once(() => contracts.escrow.deployedAt()),
  }
  const heads = createHeads({
    ...options,
    onShorter() {
      for (const shared of [views, firstViews, ...Object.values(constants)]) shared.clear()
    },
  })

  const shared = {
    ...contracts,
    chainId,
    addresses,
    usdc: constants.usdc.get,
    isUsed(primaryType: PrimaryType, digest: Hex, { hash }: BlockPoint) {
      const { ledger, escrow, pool } = ofFirst
      const { contract } = authorizationTargets[primaryType]
      if (contract === 'ConfidentialLedger') return ledger.usedDigest(digest, hash)
      return contract === 'OrderEscrow' ? escrow.usedDigest(digest, hash) : pool.usedDigest(digest, hash)
    },
    pausedUntil: async ({ hash }: BlockPoint) => (await constants.authority.get()).pausedUntil(hash),
    deployedAt: constants.deployedAt.get,
  }
  return {
    forRun() {
      const { look, lookLater, lookAlone } = rising(heads)
      const { escrow, ledger } = uncached
      const pausedUntil = async ({ hash }: BlockPoint) =>
        (await constants.authorityUncached.get()).pausedUntil(hash)
      return { ...shared, look, lookLater, alone: { look: lookAlone, escrow, ledger, pausedUntil } }
    },
  }
}

/** @throws ChainAnswerError for a head below one that was returned before */
function rising(heads: Heads): Heads {
  let highest = 0
  const risen = async (looking: Promise<Look>): Promise<Look> => {
    const look = await looking
    if (look.head.number < highest) throw new ChainAnswerError('the node lags behind')
    highest = look.head.number
    return look
  }
  return {
    look: () => risen(heads.look()),
    lookAlone: () => risen(heads.lookAlone()),
    lookLater: () => risen(heads.lookLater()),
  }
}

interface Once<T> {
  get(): Promise<T>
  clear(): void
}

/** Asks once for a value that a deployment never changes, and again after a failure. */
function once<T>(ask: () => Promise<T>): Once<T> {
  let known: Promise<T> | undefined
  const clear = () => {
    known = undefined
  }
  return {
    get() {
      known ??= ask().catch((error) => {
        clear()
        throw error
      })
      return known
    },
    clear,
  }
}

/** Views at a block's hash (EIP-1898): a reorganization between two reads cannot mix two chains, nor read an old one. */
function callerOf(provider: JsonRpcApiProvider): ViewCaller {
  return {
    async call({ blockTag, ...call }) {
      return z.string().parse(await provider.send('eth_call', [call, blockOf(blockTag)]))
    },
  }
}

function blockOf(tag: string | number | bigint): string | { blockHash: string; requireCanonical: true } {
  if (typeof tag !== 'string') return toQuantity(tag)
  return tag.startsWith('0x') ? { blockHash: tag, requireCanonical: true } : tag
}

/** Two nodes that must give the same answer, byte for byte. */
function agreeing(first: ViewCaller, witness: ViewCaller): ViewCaller {
  return {
    async call(request) {
      const [answer, second] = await Promise.all([first.call(request), witness.call(request)])
      if (answer !== second) throw new ChainAnswerError('the nodes disagree')
      return answer
    },
  }
}
