import { setTimeout as sleep } from 'node:timers/promises'
import type { FuzzedProcess, Held } from './fuzzedProcess.js'

const LOOK_MS = 500
/** Far more than the longest wait of the server's settings. */
const QUIET_WITHIN_MS = 15_000

/**
 * How much more may be held at the end than after the first round, in which everything is loaded and every cache that
 * has a bound has begun to fill.
 */
export const BOUNDS = { heapUsed: 12 * 2 ** 20, external: 8 * 2 ** 20, handles: 6, descriptors: 6 }

/**
 * What the server holds once two looks, one after the other, find no more handles than the one before; undefined when
 * it is gone.
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

/** What has grown by more than it may. */
export function growthOf(held: readonly Held[]): string[] {
  const [first, last] = [held[0], held.at(-1)]
  if (first === undefined || last === undefined) return ['nobody has looked at what the server holds']
  return (['heapUsed', 'external', 'handles', 'descriptors'] as const).flatMap((name) => {
    const grown = last[name] - first[name]
    return grown > BOUNDS[name] ? [`${name} has grown by ${grown}, from ${first[name]}`] : []
  })
}
