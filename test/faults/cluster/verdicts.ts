// What must never be, whatever goes wrong: each verdict is a function of what the bench has noted, so that a test can doctor it.
import { z } from 'zod'
import { groupBy } from '../support/settlement.js'
import type { Audit, AuditEvent } from './audit.js'

/** A transaction on its way from a server to a node. */
export interface Broadcast {
  /** Unix milliseconds. */
  readonly at: number
  readonly nonce: number
  readonly raw: string
  readonly data: string
}

/** When a server's process was killed or ended. */
export interface Death {
  readonly at: number
  readonly server: string
}

const runSchema = z.looseObject({ job: z.string() })
const transactionsSchema = z.array(z.looseObject({ nonce: z.int(), raw: z.string().optional() }))
const relaySchema = z.looseObject({ transactions: transactionsSchema })

/** The lease whose holder alone may write this row; undefined where any server may. */
function leaseOf({ table, kind, id, doc }: AuditEvent): 'narrator' | 'trigger' | 'relayer' | undefined {
  if (kind === 'delete') return undefined
  if (table === 'state') {
    if (id === 'narrator') return 'narrator'
    if (id === 'reconcile') return 'trigger'
    return id.startsWith('filler:') ? 'relayer' : undefined
  }
  if (table === 'runs') {
    return kind === 'insert' && runSchema.parse(JSON.parse(doc)).job !== 'policy' ? 'trigger' : undefined
  }
  if (table !== 'relays') return undefined
  return relaySchema.parse(JSON.parse(doc)).transactions.length > 0 ? 'relayer' : undefined
}

/** Rows that a term's holder has written after its successor could read. */
export function lateRows({ events, unseen }: Audit): string[] {
  const holders = new Map<string, AuditEvent>()
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  const faults: string[] = []
  for (const event of events) {
    if (event.table === 'leases') {
      if (event.kind !== 'delete') holders.set(kindOfLease(event.id), event)
      continue
    }
    const lease = leaseOf(event)
    const holder = lease && holders.get(lease)
    if (holder !== undefined && holder.server !== event.server) faults.push(lateRow(event, holder))
  }
  for (const [take, write] of unseen) {
    const [taken, written] = [bySeq.get(take), bySeq.get(write)]
    if (taken === undefined || written === undefined || taken.server === written.server) continue
    if (leaseOf(written) === kindOfLease(taken.id)) faults.push(lateRow(written, taken))
  }
  return faults
}

function kindOfLease(name: string): string {
  return name.split(':')[0] ?? name
}

function lateRow({ table, id, server }: AuditEvent, holder: AuditEvent): string {
  return `${table} ${id}: ${server} wrote it after ${holder.server} had taken ${kindOfLease(holder.id)}`
}

/** When each of the stored transactions was first stored, by its bytes. */
function storedAt(events: readonly AuditEvent[]): Map<string, number> {
  const stored = new Map<string, number>()
  for (const { table, id, kind, doc, at } of events) {
    if (kind === 'delete') continue
    const isNoOp = table === 'state' && id.startsWith('filler:')
    if (!isNoOp && table !== 'relays') continue
    const parsed: unknown = JSON.parse(doc)
    const transactions = isNoOp ? transactionsSchema.parse(parsed) : relaySchema.parse(parsed).transactions
    for (const { raw } of transactions) if (raw !== undefined && !stored.has(raw)) stored.set(raw, at)
  }
  return stored
}

/** Transactions that the store did not have when they were sent. */
export function unsavedBroadcasts({ events }: Pick<Audit, 'events'>, sent: readonly Broadcast[]): string[] {
  const stored = storedAt(events)
  return sent.flatMap(({ at, nonce, raw }) => {
    const savedAt = stored.get(raw)
    if (savedAt !== undefined && savedAt <= at + 1) return []
    return [`nonce ${nonce}: sent ${savedAt === undefined ? 'and never saved' : 'before it was saved'}`]
  })
}

/** Nonces under which several calls were sent, and which of them nothing stored explains. */
export function sharedNonces({ events }: Pick<Audit, 'events'>, sent: readonly Broadcast[]) {
  const stored = storedAt(events)
  const byNonce = groupBy(sent, ({ nonce }) => String(nonce))
  const shared = [...byNonce].filter(([, group]) => new Set(group.map(({ data }) => data)).size > 1)
  const unexplained = shared.filter(([, group]) => group.some(({ raw }) => !stored.has(raw)))
  return {
    shared: shared.length,
    violations: unexplained.map(
      ([nonce]) => `nonce ${nonce}: two calls were sent under it, one without a record`,
    ),
  }
}

/** Processes that held the narrator's lease when they were killed. */
export function narratorDeaths({ events }: Pick<Audit, 'events'>, deaths: readonly Death[]): number {
  const takes = events.filter(
    ({ table, id, kind }) => table === 'leases' && id === 'narrator' && kind !== 'delete',
  )
  return deaths.filter(({ at, server }) => takes.findLast((take) => take.at <= at)?.server === server).length
}

/**
 * Holds the lines of all servers against the chain's events, both in their order of the chain or of time. A kill between save and print
 * loses the lines of one look, which stand together.
 */
export function judgeNarration(expected: readonly string[], told: readonly string[], deaths: number) {
  const left = new Map<string, number>()
  for (const line of told) left.set(line, (left.get(line) ?? 0) + 1)
  const isMissing = expected.map((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count < 1
  })
  const missing = isMissing.filter(Boolean).length
  const gaps = isMissing.filter((is, index) => is && !isMissing[index - 1]).length
  const surplus = [...left].filter(([, count]) => count > 0)
  return {
    missing,
    violations: [
      ...surplus.map(([line]) => `narrated once too often: ${line}`),
      ...(gaps > deaths
        ? [`${missing} events in ${gaps} places were never narrated, after ${deaths} kills`]
        : []),
    ],
  }
}
