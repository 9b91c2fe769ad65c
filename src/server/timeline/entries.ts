import type { TimelineEntry, TriggerRecord } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import type { Receipt } from '../../protocol/relayReceipt.js'
import type { OrderEnd, OrderHistory } from './orderHistory.js'

export interface TimelineParts {
  /** The envelope that the escrow was opened against, or the first one while there is no escrow. */
  readonly received: { readonly commit: Hex; readonly receivedAt: string } | null
  /** When the account's cancel came, if one came. */
  readonly cancelReceivedAt: string | undefined
  /** Oldest first. */
  readonly triggers: readonly TriggerRecord[]
  readonly opening: Receipt | undefined
  readonly receipts: readonly Receipt[]
  readonly history: OrderHistory
}

interface TimedEntry {
  /** Unix milliseconds. It differs from the entry's own time where that contradicts cause and effect. */
  readonly sortMs: number
  readonly entry: TimelineEntry
}

/**
 * Joins the parts into one list, oldest first. Blocks have another clock than the server, and whole seconds. Whatever their
 * time, they come after their causes and before their effects.
 */
export function timelineEntries(parts: TimelineParts): TimelineEntry[] {
  // Entries with equal sort keys keep this order.
  const timed = [
    ...receivedEntry(parts),
    ...openingEntry(parts),
    ...openedEntry(parts),
    ...cancelEntry(parts),
    ...parts.receipts.flatMap((receipt) => relayEntries(receipt, parts.history.ended)),
    ...endEntries(parts),
    ...parts.triggers.flatMap(runEntries),
  ]
  return timed.sort((a, b) => a.sortMs - b.sortMs).map(({ entry }) => entry)
}

function receivedEntry(parts: TimelineParts): TimedEntry[] {
  const { received } = parts
  if (received === null) return []
  const { commit, receivedAt } = received
  const entry = { kind: 'received', at: receivedAt, commit } as const
  return [parts.opening === undefined ? byServer(entry) : beforeOpened(entry, parts)]
}

/** The chain decides whether the order is open, as with its end. */
function openingEntry(parts: TimelineParts): TimedEntry[] {
  const { opening } = parts
  if (opening === undefined) return []
  const { createdAt, digest, error } = opening
  // The receipt may be ahead of the chain as it is read here.
  const unseen = opening.status === 'confirmed' ? 'submitted' : opening.status
  const status = parts.history.opened === null ? unseen : 'confirmed'
  const entry = { kind: 'opening', at: createdAt, digest, status } as const
  return [beforeOpened({ ...entry, error: status === 'failed' ? error : null }, parts)]
}

/** The relay opens the escrow after it has the opening, which comes with the envelope. */
function beforeOpened(entry: TimelineEntry, parts: TimelineParts): TimedEntry {
  const timed = byServer(entry)
  return { ...timed, sortMs: Math.min(timed.sortMs, openedMs(parts)) }
}

function cancelEntry({ cancelReceivedAt: at }: TimelineParts): TimedEntry[] {
  return at === undefined ? [] : [byServer({ kind: 'cancel-received', at })]
}

/**
 * No run starts, no cancel is stored, and the relay accepts no authorization, before the escrow is open. Infinite while it is not
 * open.
 */
function openedMs({ history: { opened }, triggers, receipts, cancelReceivedAt }: TimelineParts): number {
  if (opened === null) return Number.POSITIVE_INFINITY
  const later = [
    ...triggers.map(({ startedAt }) => startedAt),
    ...receipts.map(({ createdAt }) => createdAt),
    ...(cancelReceivedAt === undefined ? [] : [cancelReceivedAt]),
  ]
  return Math.min(opened.time * 1_000, ...later.map(Date.parse))
}

function openedEntry(parts: TimelineParts): TimedEntry[] {
  const { opened } = parts.history
  if (opened === null) return []
  const { txHash, blockNumber } = opened
  const entry = { kind: 'opened', at: iso(opened.time), event: 'OrderOpened', txHash, blockNumber } as const
  return [{ sortMs: openedMs(parts), entry }]
}

function runEntries({ attempt, reason, startedAt, ...end }: TriggerRecord): TimedEntry[] {
  const { finishedAt, outcome, waitsFor } = end
  const began = byServer({ kind: 'triggered', at: startedAt, attempt, reason })
  if (finishedAt === null || outcome === null) return [began]
  const why = waitsFor && { waitsFor }
  return [began, byServer({ kind: 'outcome', at: finishedAt, attempt, outcome, ...why })]
}

/** The chain decides: a receipt that differs belongs to blocks that were reorganized away, or are not read yet. */
function relayEntries(receipt: Receipt, ended: OrderEnd | null): TimedEntry[] {
  const { digest, createdAt, updatedAt, txHash, blockNumber } = receipt
  const isEffective = ended !== null && ended.digest === digest
  const status = isEffective ? 'confirmed' : receipt.status === 'confirmed' ? 'submitted' : receipt.status
  const relayed = byServer({ kind: 'relayed', at: createdAt, digest, status })
  if (isEffective || txHash === null || status === 'pending') return [relayed]
  const minedIn = status === 'failed' ? blockNumber : null
  const sent = { kind: 'transaction', at: updatedAt, digest, txHash, status, blockNumber: minedIn } as const
  return [relayed, byServer(sent)]
}

/** The event, and before it the transaction when it relayed the enclave's authorization. */
function endEntries({ history: { ended }, triggers, receipts }: TimelineParts): TimedEntry[] {
  if (ended === null) return []
  const { digest, txHash, blockNumber } = ended
  const at = iso(ended.time)
  const before = receipts.filter((receipt) => receipt.digest === digest).map(({ createdAt }) => createdAt)
  const after = triggers.flatMap(knowsTheEndSince)
  const latest = Math.max(ended.time * 1_000, ...before.map(Date.parse))
  const sortMs = Math.min(latest, ...after.map(Date.parse))
  const event = { sortMs, entry: { ...eventOf(ended), at, txHash, blockNumber } }
  if (digest === null) return [event]
  return [
    { sortMs, entry: { kind: 'transaction', at, digest, txHash, status: 'confirmed', blockNumber } },
    event,
  ]
}

/** When a run knew the order's end: from its start as a reclaim, or from its result. */
function knowsTheEndSince({ reason, startedAt, finishedAt, outcome }: TriggerRecord): string[] {
  if (reason === 'reclaimed') return [startedAt]
  const isEnd = outcome === 'settled' || outcome === 'refunded'
  return isEnd && finishedAt !== null ? [finishedAt] : []
}

function eventOf({ kind }: OrderEnd) {
  return kind === 'settled'
    ? ({ kind, event: 'OrderSettled' } as const)
    : ({ kind, event: 'OrderRefunded' } as const)
}

function byServer(entry: TimelineEntry): TimedEntry {
  return { sortMs: Date.parse(entry.at), entry }
}

function iso(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString()
}
