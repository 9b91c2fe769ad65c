import type { Rpc, RpcAnswer, RpcCall } from './rpc.js'

/** The most calls of one request, unless a single caller has more. */
const MAX_CALLS = 100
const SECOND_MS = 1_000

interface Waiting {
  readonly calls: readonly RpcCall[]
  readonly signal: AbortSignal | undefined
  readonly resolve: (answers: RpcAnswer[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * The nodes as reads for strangers use them. They wait for one another, one request at a time, and never hold up what others
 * send through `rpc`, which goes out at once. Once no node is in order and one refuses calls for its rate, these reads get half of their
 * calls, and one request a second; each second without such a refusal gives back one call. A read waits as part of a request, so the
 * limits of requests under way bound the queue and one client's part of it.
 */
export function createReadLane(rpc: Pick<Rpc, 'send' | 'faults'>): Pick<Rpc, 'send'> {
  const waiting: Waiting[] = []
  let limit = MAX_CALLS
  let isRunning = false

  /** The callers that waited longest, as many as the limit has room for; one at least. */
  function take(): Waiting[] {
    let count = 0
    const end = waiting.findIndex(({ calls }, index) => {
      count += calls.length
      return index > 0 && count > limit
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const group = take()
      // In one turn of the event loop, so that they travel together.
      await Promise.all(
        group.map(({ calls, signal, resolve, reject }) => rpc.send(calls, signal).then(resolve, reject)),
      )
      const sent = group.reduce((sum, { calls }) => sum + calls.length, 0)
      const faults = rpc.faults()
      // Another node that is in order answers instead.
      const isRefused = !faults.includes(null) && faults.includes('rate-limit')
      limit = isRefused ? Math.max(1, Math.floor(Math.min(limit, sent) / 2)) : Math.min(limit + 1, MAX_CALLS)
      if (limit < MAX_CALLS) await new Promise((resolve) => setTimeout(resolve, SECOND_MS).unref())
    }
    isRunning = false
  }

  return {
    send: (calls, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ calls, signal, resolve, reject })
        if (isRunning) return
        isRunning = true
        setImmediate(() => void run())
      }),
  }
}
