import type { BlockTag } from 'ethers'
import { LRUCache } from 'lru-cache'
import { type Contracts, createContracts } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { createLenses, type Lenses } from '../../chain/lenses.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createEscrowEvents } from '../escrow/escrowLogs.js'
import { type ChainHead, createChainHead } from './chainHead.js'

/** The chain as the routes read it. */
interface BuiltReads {
  readonly head: ChainHead
  /** Views that can be asked for at one block, by its hash. */
  readonly contracts: Contracts
  readonly lenses: Lenses
}

/** Wires the reads. Starts nothing. */
export function buildReads(deps: {
  readonly config: Config
  readonly rpc: Pick<Rpc, 'send'>
  readonly logger: Logger
}): BuiltReads {
  const { config, rpc, logger } = deps
  const { contracts: addresses, readMaxAgeMs } = config.chain
  // The server answers requests that are under way when it stops.
  const stopping = new AbortController().signal
  const events = createEscrowEvents({ rpc, escrow: addresses.orderEscrow, stopping })
  const caller = createViewCaller(rpc)
  return {
    head: createChainHead({ events, maxAgeMs: readMaxAgeMs, logger }),
    contracts: createContracts(caller, addresses),
    lenses: createLenses(caller, addresses),
  }
}

/** Values that are kept: some megabytes. */
const CAPACITY = 10_000

interface Known<T> {
  /** The hash of the head at which it was read. */
  readonly block: string
  readonly value: Promise<T>
}

/**
 * Reads at the chain's head, and keeps each value while that block is the head: concurrent and later callers get the very
 * same object. A failure is not kept.
 *
 * @param read reads one block in one turn of the event loop, so that its calls travel as one request
 * @returns throws as `read` does
 */
export function createHeadReads<K extends string, T>(options: {
  readonly head: Pick<ChainHead, 'current'>
  readonly read: (key: K, block: BlockTag) => Promise<T>
}): (key: K) => Promise<T> {
  const { head, read } = options
  const known = new LRUCache<K, Known<T>>({ max: CAPACITY })

  /** A node may be behind the one that reported the head, or accept no hash: then its own latest block serves once. */
  function readAnyhow(key: K, hash: string, forget: () => void): Promise<T> {
    return read(key, hash).catch((error: unknown) => {
      if (!(error instanceof ChainAnswerError)) throw error
      return read(key, 'latest').finally(forget)
    })
  }

  return async (key) => {
    const { hash } = await head.current()
    const before = known.get(key)
    if (before?.block === hash) return before.value
    const forget = () => void (known.peek(key) === entry && known.delete(key))
    const entry: Known<T> = { block: hash, value: readAnyhow(key, hash, forget) }
    known.set(key, entry)
    entry.value.catch(forget)
    return entry.value
  }
}
