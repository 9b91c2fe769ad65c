import { ChainUnavailableError } from './errors.js'
import type { Rpc, RpcAnswer, RpcCall } from './rpc.js'

/** The most calls of one request, unless a single caller has more. */
const MAX_CALLS = 100
/** Reads of one client that wait for their turn. */
const MAX_WAITING = 10_000
/** The least that the limit falls to: calls of trades may be what used up the node's plan, and then no halving of reads helps. */
const LEAST_CALLS = 5
const SECOND_MS = 1_000
/** The limit grows by this factor with each second without a refusal. */
const GROWTH = 1.01

/** The client behind a read, and what its reads cost. */
interface Readers {
  /** The client of the request that a read belongs to; undefined for a read of the platform's own. */
  current(): string | undefined
  /** Counts calls that its request causes. */
  charge(calls: number): void
}

interface Waiting {
  readonly calls: readonly RpcCall[]
  readonly signal: AbortSignal | undefined
  readonly resolve: (answers: RpcAnswer[]) => void
  readonly reject: (error: unknown) => void
}

export type ReadLane = ReturnType<typeof createReadLane>

/**
 * The nodes as reads for strangers use them. They wait for one another, one request at a time, and never hold up what others
 * send through `rpc`, which goes out at once. Clients alternate, so one who asks for much delays himself.
 *
 * Once no node is in order and one refuses calls for its rate, these reads get half of their calls, and one request a second; each
 * second without such a refusal gives back a hundredth, so that what trades seldom meets a plan that reads have used up. A read waits
 * as part of a request, so the limits of requests under way bound the queue and one client's part of it.
 */
export function createReadLane(
  rpc: Pick<Rpc, 'send' | 'faults'>,
  readers: Readers = { current: () => undefined, charge: () => undefined },
) {
  /** By client, in the order of their turns. */
  const waiting = new Map<string | undefined, Waiting[]>()
  let waitingCalls = 0
  let limit = MAX_CALLS
  let isRunning = false

  /** One read of each client in turn, as many as the limit has room for; one at least. */
  function nextGroup(): Waiting[] {
    const group: Waiting[] = []
    let count = 0
    for (;;) {
      const [turn] = waiting
      if (turn === undefined) return group
      const [client, reads] = turn
      count += reads[0]?.calls.length ?? 0
      if (group.length > 0 && count > limit) return group
      const [read] = reads.splice(0, 1)
      if (read !== undefined) group.push(read)
      waitingCalls -= read?.calls.length ?? 0
      // Behind the others.
      waiting.delete(client)
      if (reads.length > 0) waiting.set(client, reads)
    }
  }

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      const group = nextGroup()
      // In one turn of the event loop, so that they travel together.
      await Promise.all(
        group.map(({ calls, signal, resolve, reject }) => rpc.send(calls, signal).then(resolve, reject)),
      )
      const sent = group.reduce((sum, { calls }) => sum + calls.length, 0)
      const faults = rpc.faults()
      // Another node that is in order answers instead.
      const isRefused = !faults.includes(null) && faults.includes('rate-limit')
      limit = isRefused
        ? Math.max(LEAST_CALLS, Math.min(limit, sent) / 2)
        : Math.min(limit * GROWTH, MAX_CALLS)
      if (limit < MAX_CALLS) await new Promise((resolve) => setTimeout(resolve, SECOND_MS).unref())
    }
    isRunning = false
  }

  return {
    /** The client whose turn a read of this request waits for. */
    client: readers.current,
    /** Whether a read that comes now goes out with the next request, for any client. */
    hasRoom: () => waitingCalls < limit,
    send: (calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> =>
      new Promise((resolve, reject) => {
        const client = readers.current()
        const others = waiting.get(client)
        // A read whose client has hung up keeps its place in the queue.
        if (others !== undefined && others.length >= MAX_WAITING) {
          reject(new ChainUnavailableError(1))
          return
        }
        readers.charge(calls.length)
        waitingCalls += calls.length
        const read = { calls, signal, resolve, reject }
        if (others === undefined) waiting.set(client, [read])
        else others.push(read)
        if (isRunning) return
        isRunning = true
        setImmediate(() => void run())
      }),
  }
}
