import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { type Break, createBlockTracker, type History } from '../../chain/blockTracker.js'
import {
  blockCall,
  blockSchema,
  quantitySchema,
  resultOf,
  smallQuantitySchema,
  toQuantity,
} from '../../chain/jsonRpc.js'
import type { FindNonceUse } from '../../chain/nonceUse.js'
import type { Rpc, RpcCall } from '../../chain/rpc.js'
import type { Hex } from '../../protocol/hex.js'
import { describeError, type Logger } from '../../service/logger.js'

/** One node's view of the chain and of the relayer's account, at one moment. */
export interface AccountState {
  /** Number of the latest block. */
  readonly head: number
  /** Transactions of the account in blocks: the lowest nonce that is free on the chain. */
  readonly count: number
  /** The lowest nonce that is free in the node's pool too. */
  readonly pending: number
  readonly history: History
}

export type AccountView = ReturnType<typeof createAccountView>

const headSchema = z.looseObject({ ...blockSchema.shape, gasLimit: quantitySchema })

const LEAST_PAUSE_MS = 25
/** A node, or another one behind the same URL, may know the receipt only some blocks after the new count. */
const USED_DEPTH = 5

export function createAccountView(options: {
  readonly rpc: Pick<Rpc, 'send' | 'doubt'>
  readonly address: Hex
  /** See `createBlockTracker`. */
  readonly trailingMs?: number | undefined
}) {
  const { rpc, address } = options
  const tracker = createBlockTracker(options)
  let broken: Break | null = null
  let blockGas: bigint | undefined
  /** The highest head, and when a poll first had it. */
  let newest: { readonly number: number; readonly at: number } | undefined
  let blockMs = Number.POSITIVE_INFINITY
  /** A signal of its own keeps these requests out of shared batches: another caller's slow call must not delay a poll. */
  const ownSignal = new AbortController().signal
  const send = (calls: readonly RpcCall[]) => rpc.send(calls, ownSignal)

  /** Nodes behind one URL may differ by a block: one that is lower, and then there again, is no new one. */
  function noteHead(number: number): void {
    const at = performance.now()
    if (newest !== undefined && number <= newest.number) return
    if (newest !== undefined) blockMs = (at - newest.at) / (number - newest.number)
    newest = { number, at }
  }

  return {
    /** The gas limit of a block, by the last poll; undefined before the first. */
    blockGas: () => blockGas,
    /** How long the next poll may wait: half the time from one block to the next, as polls have seen the last ones come. */
    pauseMs: () => Math.max(blockMs / 2, LEAST_PAUSE_MS),
    /** Returns the worst break since the last call. */
    consumeBreak(): Break | null {
      const latest = broken
      broken = null
      return latest
    },
    /** One request. @throws ChainUnavailableError, ChainAnswerError */
    async poll(): Promise<AccountState> {
      const tip = tracker.tip()
      const [latest, count, pending, atTip] = await send([
        blockCall('latest'),
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'pending'] },
        blockCall(tip ?? 0),
      ])
      const head = resultOf(latest, headSchema)
      blockGas = head.gasLimit
      const known =
        tip === undefined ? undefined : { number: tip, now: resultOf(atTip, z.nullable(blockSchema)) }
      const history = await tracker.next(head, known, hashAt)
      if (history === 'reset') {
        newest = undefined
        // The node may have moved to another chain.
        rpc.doubt()
      }
      noteHead(head.number)
      if (history === 'reset' || (history === 'reorganized' && broken === null)) broken = history
      return {
        head: head.number,
        count: resultOf(count, smallQuantitySchema),
        pending: resultOf(pending, smallQuantitySchema),
        history,
      }
    },
    /** The hash of a block. @throws ChainUnavailableError, ChainAnswerError where the node has none */
    hashAt,
    /**
     * Whether another transaction used the nonce, in a block so deep below `head` that the node cannot just be behind. One request,
     * so that one node answers everything. @throws ChainUnavailableError, ChainAnswerError
     */
    async isNonceUsed(nonce: number, hashes: readonly Hex[], head: number): Promise<boolean> {
      if (head < USED_DEPTH) return false
      const [count, atHead, ...receipts] = await send([
        { method: 'eth_getTransactionCount', params: [address, toQuantity(head - USED_DEPTH)] },
        blockCall(head),
        ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      ])
      const isThere = resultOf(atHead, z.nullable(blockSchema)) !== null
      const isUnknown = receipts.every((receipt) => resultOf(receipt, z.unknown()) === null)
      return isThere && isUnknown && resultOf(count, smallQuantitySchema) > nonce
    },
  }

  async function hashAt(number: number): Promise<Hex> {
    const [answer] = await send([blockCall(number)])
    return resultOf(answer, blockSchema).hash
  }
}

/** Finds transactions of the account that no server of ours has signed. */
export type ForeignUse = ReturnType<typeof createForeignUse>

/** How long a foreign transaction counts as recent. */
const RECENT_MS = 600_000
/** Own transactions that are remembered. */
const MAX_OWN = 4_096
/** Suspected nonces at a time. A shared key collides again soon, so one of many nonces is enough. */
const MAX_SUSPECTED = 16
/** Searches for one nonce: its block may not be known yet, or be too old. */
const MAX_SEARCHES = 5

/**
 * A missing receipt proves nothing: the node may be behind or broken. So this searches for the block that used the nonce,
 * and compares its transaction with those that were signed here.
 */
export function createForeignUse(options: {
  readonly findNonceUse: FindNonceUse
  /** Whether the account is known to be this process's own: another server of ours may have used the nonce otherwise. */
  readonly isTrusted: () => boolean
  /** The account's key is used elsewhere: called once for each transaction that shows it. */
  readonly onForeign: () => void
  readonly logger: Logger
}) {
  const { findNonceUse, logger } = options
  const own = new LRUCache<Hex, true>({ max: MAX_OWN })
  const suspected = new Map<number, number>()
  let foundAt = Number.NEGATIVE_INFINITY

  async function search(nonce: number, head: number): Promise<void> {
    const searches = (suspected.get(nonce) ?? 0) + 1
    suspected.set(nonce, searches)
    const use = await findNonceUse(nonce, head)
    if (use !== undefined || searches >= MAX_SEARCHES) suspected.delete(nonce)
    if (use === undefined) logger.warn('use of a nonce not found', { nonce, blockNumber: head })
    if (use === undefined || own.get(use.hash) !== undefined || !options.isTrusted()) return
    // A killed process of this server may have sent a no-op transaction, which is not read at the start.
    if (use.isToItself) return
    foundAt = performance.now()
    logger.error('relayer key used elsewhere', { nonce, txHash: use.hash })
    options.onForeign()
  }

  return {
    /** A transaction of this server, or of an earlier process of it. */
    noteOwn: (hash: Hex) => void own.set(hash, true),
    /** The chain shows the nonce as used, by an unknown transaction. */
    suspect(nonce: number) {
      if (suspected.size < MAX_SUSPECTED && !suspected.has(nonce)) suspected.set(nonce, 0)
    },
    /** Finds the transactions that used the suspected nonces; retried by the next check where no node answers. Never rejects. */
    async check(head: number) {
      const searches = [...suspected.keys()].map((nonce) =>
        search(nonce, head).catch((error: unknown) => {
          logger.warn('use of a nonce not found', { nonce, ...describeError(error) })
        }),
      )
      await Promise.all(searches)
    },
    /** Whether such a transaction was found within the last ten minutes. */
    isRecent: () => performance.now() - foundAt < RECENT_MS,
  }
}
