import { MAX_TIMER_MS } from '../protocol/timeLimit.js'

/** How a wait ended: with a permit, after its time, or because the queues are full. */
type Acquired = 'acquired' | 'late' | 'crowded-out'

interface Waiter {
  end(how: Acquired): void
}

/**
 * A semaphore that several parties share: each waits in a line of its own, and the lines take turns. A party that floods it
 * fills its own line only.
 */
export function createFairSemaphore<K>(limits: {
  readonly permits: number
  readonly permitsPerParty: number
  /** Waiters across all parties. At this limit a party with a shorter line takes the last place of the longest one. */
  readonly maxWaiting: number
  readonly maxWaitingPerParty: number
}) {
  /** Waiting parties; the first one has the next turn. */
  const lines = new Map<K, Waiter[]>()
  const held = new Map<K, number>()
  let free = limits.permits

  const waiting = () => [...lines.values()].reduce((sum, line) => sum + line.length, 0)

  function setLine(party: K, line: Waiter[]): void {
    if (line.length === 0) lines.delete(party)
    else lines.set(party, line)
  }

  function admit(): void {
    while (free > 0) {
      const next = [...lines].find(([party]) => (held.get(party) ?? 0) < limits.permitsPerParty)
      if (next === undefined) return
      const [party, [waiter, ...rest]] = next
      // Deleted first, so that the rest of its line goes to the end of the turns.
      lines.delete(party)
      setLine(party, rest)
      free--
      held.set(party, (held.get(party) ?? 0) + 1)
      waiter?.end('acquired')
    }
  }

  function hasPlace(party: K): boolean {
    const own = lines.get(party)?.length ?? 0
    if (own >= limits.maxWaitingPerParty) return false
    if (waiting() < limits.maxWaiting) return true
    const [longest] = [...lines].sort(([, a], [, b]) => b.length - a.length)
    // The party's line must not become longer than what is left of the other.
    if (longest === undefined || longest[1].length < own + 2) return false
    const [other, line] = longest
    setLine(other, line.slice(0, -1))
    line.at(-1)?.end('crowded-out')
    return true
  }

  function wait(party: K, ms: number): Promise<Acquired> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        end(how) {
          clearTimeout(timer)
          resolve(how)
        },
      }
      const giveUp = () => {
        setLine(
          party,
          (lines.get(party) ?? []).filter((other) => other !== waiter),
        )
        resolve('late')
      }
      const timer = setTimeout(giveUp, Math.min(Math.max(0, ms), MAX_TIMER_MS))
      timer.unref()
      setLine(party, [...(lines.get(party) ?? []), waiter])
      admit()
    })
  }

  return {
    /** Waiters across all parties. */
    waiting,
    /** Resolves `acquired` at the party's turn, `late` after `ms`. Each acquired permit is released once. */
    async acquire(party: K, ms: number): Promise<Acquired> {
      const isFree = free > 0 && (held.get(party) ?? 0) < limits.permitsPerParty
      if (!isFree && !hasPlace(party)) return 'crowded-out'
      return wait(party, ms)
    },
    release(party: K): void {
      const left = (held.get(party) ?? 0) - 1
      if (left > 0) held.set(party, left)
      else held.delete(party)
      free++
      admit()
    },
  }
}

export type FairSemaphore<K> = ReturnType<typeof createFairSemaphore<K>>
