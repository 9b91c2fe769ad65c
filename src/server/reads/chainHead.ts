import type { BlockId, EscrowEvents } from '../trigger/chain/escrowEvents.js'

/** The chain's latest block, shared by all who want to know whether there is anything new. */
export interface ChainHead {
  /** Takes over what somebody else has just read. */
  note(head: BlockId): void
  /** As it was a few seconds ago at most; asked for only when nobody has read it since. Throws as `ask` does. */
  current(): Promise<BlockId>
  /** As it is now. @throws ChainUnavailableError, ChainAnswerError */
  ask(): Promise<BlockId>
}

/** The escrow's watcher looks every 2 seconds. When it does not get through, a caller is to learn that. */
const MAX_AGE_MS = 5_000

export function createChainHead(events: Pick<EscrowEvents, 'head'>): ChainHead {
  let asking: Promise<BlockId> | undefined
  let last: { readonly head: BlockId; readonly readAt: number } | undefined

  function note(head: BlockId): void {
    last = { head, readAt: performance.now() }
  }

  async function ask(): Promise<BlockId> {
    const head = await events.head()
    note(head)
    return head
  }

  function askOnce(): Promise<BlockId> {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }

  return {
    note,
    ask,
    current: async () =>
      last !== undefined && performance.now() - last.readAt < MAX_AGE_MS ? last.head : askOnce(),
  }
}
