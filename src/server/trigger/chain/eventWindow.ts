import type { EscrowEvent } from './escrowEvents.js'

/** Blocks whose events are read again after a reorganisation: it replaces blocks that were looked at before. */
export const REREAD_BLOCKS = 64

/** The latest events that were dealt with, so that reading them again starts nothing again. */
export interface EventWindow {
  /** The events of a range of blocks, both ends included, that are still to be dealt with. */
  news(events: readonly EscrowEvent[], from: number, to: number): EscrowEvent[]
  add(event: EscrowEvent): void
  /** Forgets what lies before this block. */
  forgetBefore(block: number): void
}

export function createEventWindow(): EventWindow {
  /** Block numbers by the events' ids. */
  const known = new Map<string, number>()

  /** Whether an event that was dealt with is no longer on the chain. */
  function hasLost(events: readonly EscrowEvent[], from: number, to: number): boolean {
    const present = new Set(events.map(({ id }) => id))
    return [...known].some(([id, block]) => block >= from && block <= to && !present.has(id))
  }

  return {
    news(events, from, to) {
      // What came before the lost one may count again: an order whose end has vanished is open.
      if (hasLost(events, from, to)) known.clear()
      return events.filter(({ id }) => !known.has(id))
    },
    add(event) {
      known.set(event.id, event.position.block)
    },
    forgetBefore(block) {
      for (const [id, at] of known) if (at < block) known.delete(id)
    },
  }
}
