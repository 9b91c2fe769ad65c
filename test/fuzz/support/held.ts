import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from './apiRoutes.js'
import type { FuzzedProcess, Held } from './fuzzedProcess.js'

const LOOK_MS = 500
/** Far more than the longest wait of the server's settings. */
const QUIET_WITHIN_MS = 15_000

/**
 * How much more may be held at the end than after the first round, in which everything is loaded. The heap: in a short run. Descriptors:
 * the server keeps as many idle connections to its node as it once needed at the same time. On a busy machine that is more in a
 * later round. Active ones count as handles.
 */
export const BOUNDS = { heapUsed: 12 * 2 ** 20, external: 8 * 2 ** 20, handles: 6, descriptors: 24 }

/**
 * The growth that the heap in use may have from the third quarter of the rounds to the last. It has bytes in all, because two
 * looks at the same server differ, and bytes for each request between.
 *
 * By then a server has all that it keeps. Compiled code grows before: 0.9 of the 1.3 MiB between the 18,000th and
 * the 60,000th request, by snapshots of the heap. Most of the rest was a leak, mended since. Caches hold little: reads of the chain
 * are dropped with each block, and few keys that a request chooses are asked for (orders, clients of the rate limit).
 * The stored parts of each relayed transaction are asked for once in 2,000 requests.
 *
 * The fewer requests, the larger a leak must be to be told from that: 5.5 bytes of each in a million, 60 in 60,000.
 */
export const LATE_GROWTH = { bytes: 2 ** 20, bytesPerRequest: 2 }

/**
 * Reads what the server holds once its handles have stopped growing for some looks in a row. Undefined when it is gone.
 */
export async function untilQuiet(server: FuzzedProcess): Promise<Held | undefined> {
  const giveUpAt = Date.now() + QUIET_WITHIN_MS
  let before = await server.held()
  let calm = 0
  while (calm < 4 && Date.now() < giveUpAt) {
    await sleep(LOOK_MS)
    const now = await server.held()
    if (before === undefined || now === undefined) return undefined
    calm = now.handles === before.handles && now.descriptors === before.descriptors ? calm + 1 : 0
    before = now
  }
  return before
}

/** Excess growth of the server and of the enclave, each for its own requests. */
export function growthIn(
  { server, enclave }: Readonly<Record<Service, readonly Held[]>>,
  requests: Readonly<Record<Service, number>>,
): string[] {
  return [
    ...growthOf(server, requests.server),
    ...growthOf(enclave, requests.enclave).map((growth) => `the enclave's ${growth}`),
  ]
}

/** Figures with excess growth. @param requests in all rounds, as many in each */
export function growthOf(held: readonly Held[], requests: number): string[] {
  const [first, last] = [held[0], held.at(-1)]
  if (first === undefined || last === undefined) return ["the server's memory was never read"]
  const late = lateGrowth(
    held.map(({ heapUsed }) => heapUsed),
    requests,
  )
  const judged = [
    'external',
    'handles',
    'descriptors',
    ...(late === undefined ? ['heapUsed' as const] : []),
  ] as const
  const grown = judged.flatMap((name) => {
    const more = last[name] - first[name]
    return more > BOUNDS[name] ? [`${name} has grown by ${more}, from ${first[name]}`] : []
  })
  return [...grown, ...(late ?? [])]
}

/**
 * Excess growth in the second half; undefined when there are too few rounds to tell. The least of several looks counts,
 * because any one may come before a collection. A cache that has filled by then does not count at all.
 */
function lateGrowth(heap: readonly number[], requests: number): string[] | undefined {
  const half = heap.slice(Math.ceil(heap.length / 2))
  const quarter = Math.floor(half.length / 2)
  if (quarter === 0) return undefined
  const grown = Math.min(...half.slice(-quarter)) - Math.min(...half.slice(0, quarter))
  const between = (requests * (half.length - quarter)) / heap.length
  if (grown <= LATE_GROWTH.bytes + LATE_GROWTH.bytesPerRequest * between) return []
  const pace = Math.round((grown / between) * 100_000)
  return [`heapUsed still grows in the second half: by ${grown}, or ${pace} in 100,000 requests`]
}
