import { z } from 'zod'
import type { RpcProvider } from '../../chain/provider.js'
import { smallQuantitySchema, toQuantity } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'

/**
 * How a look fits what was seen before: it goes on from there; the node is behind (or the chain was rolled back:
 * nobody can tell yet); another branch took the place of blocks; or it is another chain, or one that lost its end.
 */
export type History = 'kept' | 'behind' | 'reorganized' | 'reset'

/** A history that did not just go on. */
export type Break = Extract<History, 'reorganized' | 'reset'>

/** What one node says of the chain and of the relayer's account, at one moment. */
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
  /** The worst that was seen since this was last asked, by whomever. */
  takeBreak(): Break | null
  /**
   * Whether the nonce was used by none of these transactions, and so many blocks below `head` that no node can just be
   * late. One request, so that it is one node that says both. @throws ChainUnavailableError, ChainAnswerError
   */
  isTaken(nonce: number, hashes: readonly Hex[], head: number): Promise<boolean>
}

/** A node may trail the others for so long; a head that stays below what was seen is a chain that was reset. */
const NODE_LAG_MS = 2_000
/** Blocks whose hashes are kept. */
const MEMORY = 128
/** A node may know of a count before it, or one behind the same URL, knows of the receipt: for some blocks, not for more. */
const TAKEN_DEPTH = 5

const blockSchema = z.looseObject({ number: smallQuantitySchema, hash: bytes32Schema })
type Block = z.output<typeof blockSchema>

export function createAccountView(options: {
  provider: Pick<RpcProvider, 'transport'>
  address: Hex
}): AccountView {
  const { provider, address } = options
  const judge = createHistory()
  let broken: Break | null = null
  return {
    takeBreak() {
      const taken = broken
      broken = null
      return taken
    },
    async look() {
      const tip = judge.tip()
      const [latest, count, pending, atTip] = await provider.transport.send([
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'pending'] },
        { method: 'eth_getBlockByNumber', params: [toQuantity(tip ?? 0), false] },
      ])
      const head = resultOf(latest, blockSchema)
      const known =
        tip === undefined ? undefined : { number: tip, now: resultOf(atTip, blockSchema.nullable()) }
      const history = await judge.next(head, known, askGenesis)
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

  async function askGenesis(): Promise<Hex> {
    const [answer] = await provider.transport.send([
      { method: 'eth_getBlockByNumber', params: ['0x0', false] },
    ])
    return resultOf(answer, blockSchema).hash
  }
}

/** The head of an earlier look, and what is there now. Another look may have come in between. */
interface Known {
  readonly number: number
  readonly now: Block | null
}

/** Remembers the blocks that were seen as heads. */
function createHistory() {
  const seen = new Map<number, Hex>()
  let tip: number | undefined
  let behindSince: number | undefined
  let genesis: Hex | undefined

  function remember({ number, hash }: Block): void {
    tip = number
    seen.set(number, hash)
    for (const old of seen.keys()) if (seen.size > MEMORY || old > number) seen.delete(old)
  }

  function historyOf(head: Block, known: Known | undefined): History {
    if (known === undefined) return 'kept'
    if (head.number >= known.number) {
      const hash = seen.get(known.number)
      return hash === undefined || known.now?.hash === hash ? 'kept' : 'reorganized'
    }
    const hash = seen.get(head.number)
    if (hash !== undefined && hash !== head.hash) return 'reorganized'
    behindSince ??= performance.now()
    return performance.now() - behindSince < NODE_LAG_MS ? 'behind' : 'reset'
  }

  return {
    tip: () => tip,
    async next(head: Block, known: Known | undefined, askGenesis: () => Promise<Hex>): Promise<History> {
      let history = historyOf(head, known)
      if (history === 'behind') return history
      if (genesis === undefined || history === 'reorganized') {
        const found = await askGenesis()
        if (genesis !== undefined && found !== genesis) history = 'reset'
        genesis = found
      }
      behindSince = undefined
      if (history !== 'kept') seen.clear()
      if (history !== 'kept' || head.number >= (tip ?? 0)) remember(head)
      return history
    },
  }
}
