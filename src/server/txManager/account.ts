import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import { sameAddress } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import { createRecentMap } from '../../service/recentMap.js'

/** One node's view of the chain and of the relayer's account, at one moment. */
export interface Look {
  /** Number of the latest block. */
  readonly head: number
  /** Transactions of the account in blocks: the lowest nonce that is free on the chain. */
  readonly count: number
  /** The lowest nonce that is free in the node's pool too. */
  readonly pending: number
  readonly history: History
}

export interface AccountView {
  /** One request. @throws ChainUnavailableError, ChainAnswerError */
  look(): Promise<Look>
  /** Returns the worst break since the last call. */
  takeBreak(): Break | null
  /**
   * Whether none of these transactions used the nonce, and its block is so far below `head` that no node can just be
   * late. One request, so that one node says both. @throws ChainUnavailableError, ChainAnswerError
   */
  isTaken(nonce: number, hashes: readonly Hex[], head: number): Promise<boolean>
}

/** A node may know of a count before it, or one behind the same URL, knows of the receipt: for some blocks, not for more. */
const TAKEN_DEPTH = 5

const blockSchema = z.looseObject({
  number: smallQuantitySchema,
  hash: bytes32Schema,
  parentHash: bytes32Schema.optional(),
})

export function createAccountView(options: {
  provider: Pick<RpcProvider, 'transport'>
  address: Hex
}): AccountView {
  const { provider, address } = options
  const heads = createSeenHeads()
  let broken: Break | null = null
  return {
    takeBreak() {
      const taken = broken
      broken = null
      return taken
    },
    async look() {
      const tip = heads.tip()
      const [latest, count, pending, atTip] = await provider.transport.send([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'pending'] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(tip ?? 0), false] },
      ])
      const head = resultOf(latest, blockSchema)
      const known =
        tip === undefined ? undefined : { number: tip, now: resultOf(atTip, blockSchema.nullable()) }
      const history = await heads.next(head, known, hashAt)
      // It may be a node that has become one of another chain.
      if (history === 'reset') provider.transport.doubt()
      if (history === 'reset' || (history === 'reorganized' && broken === null)) broken = history
      return {
        head: head.number,
        count: resultOf(count, smallQuantitySchema),
        pending: resultOf(pending, smallQuantitySchema),
        history,
      }
    },
    async isTaken(nonce, hashes, head) {
      if (head < TAKEN_DEPTH) return false
      const [count, atHead, ...receipts] = await provider.transport.send([
        { method: 'eth_getTransactionCount', params: [address, toQuantity(head - TAKEN_DEPTH)] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(head), false] },
        ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      ])
      const isThere = resultOf(atHead, blockSchema.nullable()) !== null
      const isUnknown = receipts.every((receipt) => resultOf(receipt, z.unknown()) === null)
      return isThere && isUnknown && resultOf(count, smallQuantitySchema) > nonce
    },
  }

  async function hashAt(number: number): Promise<Hex> {
    const [answer] = await provider.transport.send([
      { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] },
    ])
    return resultOf(answer, blockSchema).hash
  }
}

/**
 * How a look fits what was seen before: it goes on from there; the node is behind (or the chain was rolled back:
 * it is too early to say); another branch replaced blocks; or it is another chain, or one that lost its end.
 */
export type History = 'kept' | 'behind' | 'reorganized' | 'reset'

/** A history that did not simply continue. */
export type Break = Extract<History, 'reorganized' | 'reset'>

/** The fields of a block that count here. */
export interface Block {
  readonly number: number
  readonly hash: Hex
  /** The hash of the block below it, where the node gives it. */
  readonly parentHash?: Hex | undefined
}

/** The head of an earlier look, and the block that is there now. Another look may have come in between. */
export interface Known {
  readonly number: number
  readonly now: Block | null
}

/** Remembers the blocks that were seen as heads. */
export interface SeenHeads {
  /** The number of the last one. */
  tip(): number | undefined
  /** @param hashAt asks for the hash of a block that is there, when blocks were replaced or the head is below an earlier one */
  next(head: Block, known: Known | undefined, hashAt: (number: number) => Promise<Hex>): Promise<History>
}

/** A node may trail the others for this long; a head that stays below an earlier one belongs to a chain that was reset. */
const LEAST_LAG_MS = 2_000
/** A node whose blocks are those that were seen may trail for as long as the chain takes for so many of them. */
const LAG_BLOCKS = 4
const MOST_LAG_MS = 60_000
/** Blocks whose hashes are kept. */
const MEMORY = 128

/** A block that was seen as the head. */
interface Seen extends Pick<Block, 'hash' | 'parentHash'> {
  /** When it was first seen, by `performance.now()`. */
  readonly at: number
}

function createSeenHeads(): SeenHeads {
  const seen = new Map<number, Seen>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined
  /** The block time before the last reorganization, which changes blocks and not their pace. */
  let earlierBlockMs: number | undefined

  function remember({ number, hash, parentHash }: Block): void {
    tip = number
    if (seen.get(number)?.hash !== hash) seen.set(number, { hash, parentHash, at: performance.now() })
    for (const old of seen.keys()) if (seen.size > MEMORY || old > number) seen.delete(old)
  }

  function historyOf(head: Block, known: Known | undefined): History {
    if (known === undefined) return 'kept'
    const before = seen.get(Math.min(head.number, known.number))
    if (head.number >= known.number) {
      return before === undefined || known.now?.hash === before.hash ? 'kept' : 'reorganized'
    }
    return before === undefined || before.hash === head.hash ? 'behind' : 'reorganized'
  }

  /** Judged by the head, or by the last seen block below it. */
  async function isOnSeenChain(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    const expected = seen.get(head.number)?.hash ?? seen.get(head.number + 1)?.parentHash
    if (expected !== undefined) return expected === head.hash
    const number = [...seen.keys()].findLast((each) => each < head.number)
    return number !== undefined && seen.get(number)?.hash === (await hashAt(number))
  }

  /** Mean time between blocks. One head gives none. */
  function blockMs(): number | undefined {
    const heads = [...seen]
    const [first, last] = [heads.at(0), heads.at(-1)]
    if (first === undefined || last === undefined || first === last) return earlierBlockMs
    return (last[1].at - first[1].at) / (last[0] - first[0])
  }

  /** Time that the chain takes for {@link LAG_BLOCKS}, by the blocks that were seen. */
  function patienceMs(): number {
    return Math.min(Math.max(LAG_BLOCKS * (blockMs() ?? 0), LEAST_LAG_MS), MOST_LAG_MS)
  }

  async function isStillBehind(head: Block, hashAt: (number: number) => Promise<Hex>): Promise<boolean> {
    behindSince ??= performance.now()
    const lagMs = performance.now() - behindSince
    return lagMs < LEAST_LAG_MS || (lagMs < patienceMs() && (await isOnSeenChain(head, hashAt)))
  }

  return {
    tip: () => tip,
    async next(head, known, hashAt) {
      let history = historyOf(head, known)
      if (history === 'behind') {
        if (await isStillBehind(head, hashAt)) return history
        history = 'reset'
      }
      if (genesis === undefined || history === 'reorganized') {
        const found = await hashAt(0)
        if (genesis !== undefined && found !== genesis) history = 'reset'
        genesis = found
      }
      behindSince = undefined
      if (history !== 'kept') {
        earlierBlockMs = history === 'reorganized' ? blockMs() : undefined
        seen.clear()
      }
      if (history !== 'kept' || head.number >= (tip ?? 0)) remember(head)
      return history
    },
  }
}

export interface ForeignUseOptions {
  readonly findNonceUse: FindNonceUse
  /** Whether the account is known to be this process's own: another server of ours may have used the nonce otherwise. */
  readonly isTrusted: () => boolean
  /** A nonce was used by a transaction that this server has not signed. What was signed under it can't be mined. */
  readonly onTaken: (nonce: number) => void
  /** The account's key is used elsewhere: called once for each transaction that shows it. */
  readonly onForeign: () => void
  readonly logger: Logger
}

/** Notices transactions of the account that this server has not signed. */
export interface ForeignUse {
  /** A transaction of this server, or of an earlier process of it. */
  own(hash: Hex): void
  /** The chain shows the nonce as used, by an unknown transaction. */
  suspect(nonce: number): void
  /** Finds the transactions that used the suspected nonces; again where no node answers. Never rejects. */
  check(head: number): Promise<void>
  /** Whether such a transaction was found within the last ten minutes. */
  isRecent(): boolean
}

/** For how long one foreign transaction is news. */
const RECENT_MS = 600_000
/** Own transactions that are remembered. */
const MAX_OWN = 4_096
/** Suspected nonces at once. A shared key collides again soon, so one of many nonces is enough. */
const MAX_SUSPECTED = 16
/** Looks for one nonce: a block may not be there yet, or be too old. */
const MAX_LOOKS = 5

/**
 * A missing receipt proves nothing: the node may be behind, or out of order. So this searches for the block that used
 * the nonce, and compares its transaction with those that were signed here.
 */
export function createForeignUse(options: ForeignUseOptions): ForeignUse {
  const { findNonceUse, logger } = options
  const own = createRecentMap<Hex, true>(MAX_OWN)
  const suspected = new Map<number, number>()
  let foundAt = Number.NEGATIVE_INFINITY

  async function look(nonce: number, head: number): Promise<void> {
    const looks = (suspected.get(nonce) ?? 0) + 1
    suspected.set(nonce, looks)
    const use = await findNonceUse(nonce, head)
    if (use !== undefined || looks >= MAX_LOOKS) suspected.delete(nonce)
    if (use === undefined || own.get(use.hash) !== undefined || !options.isTrusted()) return
    options.onTaken(nonce)
    // A killed process of this server may have left a no-op transaction, which is not read at the start.
    if (use.isToItself) return
    foundAt = performance.now()
    logger.error('relayer key used elsewhere', { nonce, txHash: use.hash })
    options.onForeign()
  }

  return {
    own: (hash) => own.set(hash, true),
    suspect(nonce) {
      if (suspected.size < MAX_SUSPECTED && !suspected.has(nonce)) suspected.set(nonce, 0)
    },
    async check(head) {
      await Promise.allSettled([...suspected.keys()].map((nonce) => look(nonce, head)))
    },
    isRecent: () => performance.now() - foundAt < RECENT_MS,
  }
}

/** The transaction that has used a nonce of the account. */
export interface NonceUse {
  readonly hash: Hex
  /** A transfer to the account itself. */
  readonly isToItself: boolean
}

/**
 * Finds the transaction that used the nonce. Undefined when it is in no block, or in one that is
 * older than the states which nodes keep.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export type FindNonceUse = (nonce: number, head: number) => Promise<NonceUse | undefined>

/** Most nodes forget the state of a block that has 128 on top. */
const MAX_DEPTH = 120

const transactionSchema = z.looseObject({
  hash: bytes32Schema,
  from: hexOf(20),
  to: hexOf(20).nullish(),
  // A rollup's own transactions may have none.
  nonce: smallQuantitySchema.nullish(),
})
const fullBlockSchema = z.looseObject({ transactions: z.array(transactionSchema) }).nullable()

/** Asks for the account's count in one block after another, halving the range. */
export function createFindNonceUse(options: {
  readonly provider: Pick<RpcProvider, 'transport'>
  readonly address: Hex
}): FindNonceUse {
  const { provider, address } = options

  async function isUsedAt(nonce: number, block: number): Promise<boolean> {
    const params = [address, toQuantity(block)]
    const [answer] = await provider.transport.send([{ method: 'eth_getTransactionCount', params }])
    return resultOf(answer, smallQuantitySchema) > nonce
  }

  async function useIn(block: number, nonce: number): Promise<NonceUse | undefined> {
    const params = [toQuantity(block), true]
    const [answer] = await provider.transport.send([{ method: 'eth_getBlockByNumber', params }])
    const transactions = resultOf(answer, fullBlockSchema)?.transactions ?? []
    const use = transactions.find((each) => each.nonce === nonce && sameAddress(each.from, address))
    return use && { hash: use.hash, isToItself: sameAddress(use.to ?? '', address) }
  }

  return async (nonce, head) => {
    let unused = Math.max(0, head - MAX_DEPTH)
    let used = head
    if ((await isUsedAt(nonce, unused)) || !(await isUsedAt(nonce, used))) return undefined
    while (used - unused > 1) {
      const middle = Math.floor((unused + used) / 2)
      if (await isUsedAt(nonce, middle)) used = middle
      else unused = middle
    }
    return useIn(used, nonce)
  }
}
