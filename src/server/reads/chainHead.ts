import type { BlockTag } from 'ethers'
import { LRUCache } from 'lru-cache'
import { createContracts } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { createLenses } from '../../chain/lenses.js'
import type { BlockId } from '../../chain/logReader.js'
import { createReadLane, type ReadLane } from '../../chain/readLane.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { createSharedValue, untilAborted } from '../../service/waiting.js'
import type { Config } from '../config/config.js'
import { createEscrowEvents, type EscrowEvents } from '../escrow/escrowLogs.js'
import type { ClientReaders } from '../http/clients.js'

export type ChainHead = ReturnType<typeof createChainHead>

/** The shortest interval, however small `maxAgeMs` is. */
const LEAST_INTERVAL_MS = 250
const RETRY_MS = 1_000
/** How long callers wait for the first request after a failure: a node that hangs must not delay every read. */
const PATIENCE_MS = 250

/**
 * A block that is lower than the known one comes from a node that is behind. It is ignored until the known one is too old;
 * after that the chain has another history.
 */
export function createChainHead(options: {
  readonly events: Pick<EscrowEvents, 'head'>
  readonly maxAgeMs: number
  readonly logger: Logger
}) {
  const { events, maxAgeMs, logger } = options
  const intervalMs = Math.max(LEAST_INTERVAL_MS, maxAgeMs / 2)
  const shared = createSharedValue<BlockId>({
    load: events.head,
    freshMs: () => maxAgeMs,
    isOver: (_head, ageMs) => ageMs >= maxAgeMs,
    patienceMs: PATIENCE_MS,
    retryMs: () => RETRY_MS,
    joinMs: maxAgeMs,
    replaces: (next, known) => next.number >= known.number,
  })
  return {
    note: shared.note,
    /** Another part's own read of the head, which is kept here. @throws its error */
    ask: shared.ask,
    /**
     * A block that was the head at most `maxAgeMs` ago. Concurrent callers share one request. For a moment after a
     * failure it throws the same error without a request.
     * @throws ChainUnavailableError, ChainAnswerError
     */
    current: async (): Promise<BlockId> => (await shared.get()).value,
    /** A transaction of this platform was mined, so earlier reads are outdated. Sends no request. */
    expire: shared.expire,
    service: createPoller({
      name: 'chain-head',
      intervalMs,
      logger,
      async tick(signal) {
        if (shared.ageMs() < intervalMs) return
        // Readers get the error, and the log names each node that is set aside.
        await untilAborted(
          shared.join().catch(() => undefined),
          signal,
        )
      },
    }),
  }
}

export function buildReads(deps: {
  readonly config: Config
  readonly rpc: Pick<Rpc, 'send' | 'faults'>
  readonly readers: Pick<ClientReaders, 'current' | 'charge' | 'chargeOrRefuse'>
  readonly logger: Logger
}) {
  const { config, rpc, readers, logger } = deps
  const { contracts: addresses, readMaxAgeMs } = config.chain
  // The server answers requests that are under way when it stops.
  const stopping = new AbortController().signal
  const events = createEscrowEvents({ rpc, escrow: addresses.orderEscrow, stopping })
  const searches = createReadLane(rpc, { ...readers, charge: readers.chargeOrRefuse })
  const lane = createReadLane(rpc, readers)
  const charged: Pick<Rpc, 'send'> = {
    send(calls, signal) {
      readers.charge(calls.length)
      return rpc.send(calls, signal)
    },
  }
  const blockViews = (node: Pick<Rpc, 'send'>) => {
    const caller = createViewCaller(node)
    return { contracts: createContracts(caller, addresses), lenses: createLenses(caller, addresses) }
  }
  return {
    head: createChainHead({ events, maxAgeMs: readMaxAgeMs, logger }),
    /** Views that can be asked for at one block, by its hash; for what trades. */
    trading: blockViews(rpc),
    /** The same for what a client posts, which waits for no reads; its calls count against what that client may read. */
    posted: blockViews(charged),
    charged,
    /** The same views for routes that anyone can call: they wait for one another, and hold up nothing that trades. */
    shown: { ...blockViews(lane), lane },
    /** Searches of events are slow, so they wait for themselves alone. */
    timelines: { rpc: searches, contracts: createContracts(createViewCaller(searches), addresses) },
  }
}

/** Values that are kept: some megabytes. */
const CAPACITY = 10_000

interface KeptValue<T> {
  readonly block: string
  /** The client whose turn it waits for. */
  readonly client: string | undefined
  isPending: boolean
  readonly value: Promise<T>
}

/**
 * Reads at the chain's head, and keeps each value while that block is the head: concurrent and later callers get the very
 * same object. A failure is not kept. A client joins another one's read only while its own would go out at once.
 *
 * @param read reads one block in one turn of the event loop, so that its calls travel as one request
 * @param lane that the reads travel through, if clients alternate in it
 * @returns throws as `read` does
 */
export function createHeadReads<K extends string, T>(options: {
  readonly head: Pick<ChainHead, 'current'>
  readonly read: (key: K, block: BlockTag) => Promise<T>
  readonly lane?: Pick<ReadLane, 'client' | 'hasRoom'>
}): (key: K) => Promise<T> {
  const { head, read, lane } = options
  const known = new LRUCache<K, KeptValue<T>>({ max: CAPACITY })

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
    const client = lane?.client()
    const mayJoin = ({ isPending, client: asker }: KeptValue<T>) =>
      !isPending || asker === client || lane?.hasRoom() !== false
    if (before?.block === hash && mayJoin(before)) return before.value
    const forget = () => void (known.peek(key) === entry && known.delete(key))
    const value = readAnyhow(key, hash, forget)
    const entry: KeptValue<T> = { block: hash, client, isPending: true, value }
    known.set(key, entry)
    value.then(() => {
      entry.isPending = false
    }, forget)
    return entry.value
  }
}
