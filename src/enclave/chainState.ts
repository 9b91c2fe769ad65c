import { LRUCache } from 'lru-cache'
import { createSignatureCheck } from '../chain/accountSignature.js'
import {
  type Authority,
  type Contracts,
  createAuthority,
  createContracts,
  createCorporateActions,
  createUsdc,
  type Usdc,
} from '../chain/contracts.js'
import { type AccountWrite, portfoliosAt } from '../chain/earlierWrites.js'
import { countEnactedSince } from '../chain/enactedSince.js'
import { ChainAnswerError } from '../chain/errors.js'
import type { Rpc } from '../chain/rpc.js'
import { createViewCaller, type ViewCaller } from '../chain/views.js'
import type { ContractAddresses } from '../protocol/api.js'
import { authorizationTargets } from '../protocol/authorizationTypes.js'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import type { Portfolio } from '../protocol/portfolio.js'
import type { PrimaryType } from '../protocol/primaryTypes.js'
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
  /** Like `look`, after a pause that all runs share. */
  lookLater(): Promise<Look>
  /** The same chain by requests of its own, none of whose answers is shared: right before an order is sent. */
  readonly alone: Pick<ChainState, 'look' | 'escrow' | 'ledger' | 'pausedUntil'>
  usdc(): Promise<Usdc>
  authority(): Promise<Authority>
  /** Whether an authorization has taken effect at a block, by the first node alone: nothing is decided by it. */
  isUsed(primaryType: PrimaryType, digest: Hex, block: BlockPoint): Promise<boolean>
  /** Unix seconds at which the platform's pause ends; 0 when it is not paused. */
  pausedUntil(block: BlockPoint): Promise<number>
  /** The platform's owner. */
  owner(block: BlockPoint): Promise<Hex>
  /** Whether an account signed a digest, by its key or as a contract at a block. */
  isSignedBy(account: Hex, digest: Hex, signature: Hex, block: BlockPoint): Promise<boolean>
  /** All corporate actions, in the order of the contract's list. */
  actions(block: BlockPoint): Promise<readonly CorporateAction[]>
  /** The running hash of that list, which an authorization names. */
  listHash(block: BlockPoint): Promise<Hex>
  /** How many of them came into force after an order was opened, as both operators' nodes have it. */
  enactedSince(orderId: Hex, block: BlockPoint): Promise<number>
  /** The portfolios that stood at these moments, and whose shares are an account's today, as the ledger's transactions have them. */
  portfoliosAt(
    moments: readonly number[],
    of: {
      readonly account: Hex
      readonly stored: { version: bigint; hash: Hex }
      readonly block: BlockPoint
    },
    open: (write: AccountWrite) => Promise<Portfolio>,
  ): Promise<Map<number, readonly Portfolio[]>>
  /** Unix seconds of the escrow's creation. */
  deployedAt(): Promise<number>
}

interface ChainOptions extends Omit<HeadsOptions, 'onShorter'> {
  readonly chainId: number
  readonly addresses: ContractAddresses
}

/** For a single run, or a program that reads the chain once. */
export function createChainState({
  pollMs = 0,
  ...options
}: Omit<ChainOptions, 'pollMs'> & { readonly pollMs?: number }): ChainState {
  return createSharedChain({ ...options, pollMs }).forRun()
}

/** The chain as all runs of a process share it: one look at each new head, and each view of a block once. */
export function createSharedChain(options: ChainOptions) {
  const { rpc, witness, chainId, addresses } = options
  const first = canonicalViews(rpc)
  const agreed = witness ? agreeing(first, canonicalViews(witness)) : first
  const views = createBlockCache(agreed)
  const firstViews = createBlockCache(first)
  const contracts = createContracts(views, addresses)
  const uncached = createContracts(agreed, addresses)
  const ofFirst = createContracts(firstViews, addresses)
  const isSignedBy = createSignatureCheck(views)
  const constants = {
    usdc: once(async () => createUsdc(views, await contracts.escrow.usdc())),
    authority: once(async () => createAuthority(views, await contracts.escrow.authority())),
    authorityUncached: once(async () => createAuthority(agreed, await contracts.escrow.authority())),
    deployedAt: once(() => contracts.escrow.deployedAt()),
    actions: once(async () => createCorporateActions(views, await contracts.token.actions())),
  }
  // The list changes a few times a day, and its hash says when.
  let listed: { listHash: Hex; actions: readonly CorporateAction[] } | undefined
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
    authority: constants.authority.get,
    isUsed(primaryType: PrimaryType, digest: Hex, { hash }: BlockPoint) {
      const { ledger, escrow, pool } = ofFirst
      const { contract } = authorizationTargets[primaryType]
      if (contract === 'ConfidentialLedger') return ledger.usedDigest(digest, hash)
      return contract === 'OrderEscrow' ? escrow.usedDigest(digest, hash) : pool.usedDigest(digest, hash)
    },
    pausedUntil: async ({ hash }: BlockPoint) => (await constants.authority.get()).pausedUntil(hash),
    owner: async ({ hash }: BlockPoint) => (await constants.authority.get()).owner(hash),
    isSignedBy: (account: Hex, digest: Hex, signature: Hex, { hash }: BlockPoint) =>
      isSignedBy(account, digest, signature, hash),
    deployedAt: constants.deployedAt.get,
    async actions({ hash }: BlockPoint) {
      const contract = await constants.actions.get()
      const listHash = await contract.listHash(hash)
      if (listHash === ZERO_BYTES32) return []
      if (listed?.listHash !== listHash) {
        listed = { listHash, actions: await contract.all(hash) }
      }
      return listed.actions
    },
    listHash: async ({ hash }: BlockPoint) => (await constants.actions.get()).listHash(hash),
    async enactedSince(orderId: Hex, { hash, number }: BlockPoint) {
      const at = { escrow: addresses.orderEscrow, actions: await contracts.token.actions(hash) }
      const nodes = witness ? [rpc, witness] : [rpc]
      const counts = await Promise.all(nodes.map((node) => countEnactedSince(node, at, orderId, number)))
      const [count = 0] = counts
      if (counts.some((other) => other !== count)) throw new ChainAnswerError('the nodes disagree')
      return count
    },
    portfoliosAt: ((moments, { block, ...of }, open) => {
      const place = { rpc, ledger: addresses.confidentialLedger, ...of, head: block.number }
      return portfoliosAt(moments, place, open)
    }) satisfies ChainState['portfoliosAt'],
  }
  return {
    /** A run never sees a head below one that it has seen. */
    forRun(): ChainState {
      const { look, lookLater, lookAlone } = rising(heads)
      const { escrow, ledger } = uncached
      const pausedUntil = async ({ hash }: BlockPoint) =>
        (await constants.authorityUncached.get()).pausedUntil(hash)
      return { ...shared, look, lookLater, alone: { look: lookAlone, escrow, ledger, pausedUntil } }
    },
  }
}

export type SharedChain = ReturnType<typeof createSharedChain>

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

/** Asks once for a value that a deployment never changes, and again after a failure. */
function once<T>(ask: () => Promise<T>) {
  let known: Promise<T> | undefined
  const clear = () => {
    known = undefined
  }
  return {
    get(): Promise<T> {
      known ??= ask().catch((error) => {
        clear()
        throw error
      })
      return known
    },
    clear,
  }
}

/** A reorganization between two reads cannot mix two chains, nor make a view read a chain that is gone. */
function canonicalViews(rpc: Pick<Rpc, 'send'>): ViewCaller {
  return createViewCaller(rpc, { requireCanonical: true })
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

/** Concurrent runs read at the head, at a block below it, and at the head before. */
const MAX_BLOCKS = 4

/**
 * Asks for each view of a block once: at a block's hash an answer never changes. Failures are not kept, nor is anything
 * that is asked for by a number or a tag.
 */
function createBlockCache(caller: ViewCaller) {
  const blocks = new LRUCache<string, Map<string, Promise<string>>>({ max: MAX_BLOCKS })

  return {
    call(request: Parameters<ViewCaller['call']>[0]) {
      const { to, data, blockTag } = request
      if (typeof blockTag !== 'string' || !blockTag.startsWith('0x')) return caller.call(request)
      const answers = blocks.get(blockTag) ?? new Map<string, Promise<string>>()
      blocks.set(blockTag, answers)
      const key = `${to} ${data}`
      const known = answers.get(key)
      if (known !== undefined) return known
      const asked = caller.call(request)
      answers.set(key, asked)
      asked.catch(() => answers.delete(key))
      return asked
    },
    clear: () => blocks.clear(),
  }
}
