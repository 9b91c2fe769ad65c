import type { BlockId, EscrowEvent, EscrowEvents } from './escrowEvents.js'

/** Is told of what was read of the chain anyway, so that it need not ask for it. Must not throw. */
export interface EscrowObserver {
  onHead(head: BlockId): void
  onEvents(events: readonly EscrowEvent[]): void
}

/** The same reads, each told to the observer. */
export function observedEvents(events: EscrowEvents, observer: EscrowObserver): EscrowEvents {
  return {
    ...events,
    async head() {
      const head = await events.head()
      observer.onHead(head)
      return head
    },
    async read(from, to, orderId) {
      const range = await events.read(from, to, orderId)
      if (typeof range !== 'string') observer.onEvents(range.events)
      return range
    },
  }
}
