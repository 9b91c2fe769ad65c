// Violations that no fault excuses. Each verdict is a function of the bench's notes, so that a test can falsify the notes.
import { Transaction } from 'ethers'
import { z } from 'zod'
import type { Audit, AuditEvent } from './audit.js'

/** A transaction on its way from a server to a node. */
export interface Broadcast {
  /** Unix milliseconds. */
  readonly at: number
  readonly from: string
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
const transactionsSchema = z.array(
  z.looseObject({ nonce: z.int(), hash: z.string(), raw: z.string().optional() }),
)
const relaySchema = z.looseObject({ transactions: transactionsSchema })

/** The lease whose holder alone may write a row, in lower case; undefined where any server may. */
function createLeaseOf(): (event: AuditEvent) => string | undefined {
  /** Each transaction's account by its hash, as a row that is final has no bytes any more. */
  const accounts = new Map<string, string>()

  function relayerOf(doc: string): string | undefined {
    const last = relaySchema.parse(JSON.parse(doc)).transactions.at(-1)
    if (last === undefined) return undefined
    const { hash, raw } = last
    const account =
      accounts.get(hash) ?? (raw === undefined ? null : Transaction.from(raw).from)?.toLowerCase()
    if (account === undefined) return undefined
    accounts.set(hash, account)
    return `relayer:${account}`
  }

  return ({ table, kind, id, doc }) => {
    if (kind === 'delete') return undefined
    if (table === 'relays') return relayerOf(doc)
    if (table === 'runs') {
      return kind === 'insert' && runSchema.parse(JSON.parse(doc)).job !== 'policy' ? 'trigger' : undefined
    }
    if (table !== 'state') return undefined
    if (id === 'narrator') return 'narrator'
    if (id === 'reconcile') return 'trigger'
    return id.startsWith('no-op:') ? `relayer:${id.split(':')[1]?.toLowerCase()}` : undefined
  }
}

/** Rows that a term's holder has written after its successor could read. */
export function lateRows({ events, unseen }: Audit): string[] {
  const leaseOf = createLeaseOf()
  const holders = new Map<string, AuditEvent>()
  const bySeq = new Map<number, { event: AuditEvent; lease: string | undefined }>()
  const faults: string[] = []
  for (const event of events) {
    const isLease = event.table === 'leases'
    const lease = isLease ? event.id.toLowerCase() : leaseOf(event)
    bySeq.set(event.seq, { event, lease })
    if (lease === undefined || (isLease && event.kind === 'delete')) continue
    const holder = holders.get(lease)
    if (isLease) holders.set(lease, event)
    else if (holder !== undefined && holder.server !== event.server) faults.push(lateRow(event, holder))
  }
  for (const [take, write] of unseen) {
    const [taken, written] = [bySeq.get(take), bySeq.get(write)]
    if (taken === undefined || written === undefined || taken.event.server === written.event.server) continue
    if (written.lease === taken.lease) faults.push(lateRow(written.event, taken.event))
  }
  return faults
}

function lateRow({ table, id, server }: AuditEvent, holder: AuditEvent): string {
  return `${table} ${id}: ${server} wrote it after ${holder.server} had taken ${holder.id}`
}

/** When each of the stored transactions was first stored, by its bytes. */
function storedAt(events: readonly AuditEvent[]): Map<string, number> {
  const stored = new Map<string, number>()
  for (const { table, id, kind, doc, at } of events) {
    if (kind === 'delete') continue
    const isNoOp = table === 'state' && id.startsWith('no-op:')
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
  const nameOf = ({ from, nonce }: Broadcast) => `${nonce} of ${from}`
  const byNonce = [...new Set(sent.map(nameOf))].map(
    (name) => [name, sent.filter((one) => nameOf(one) === name)] as const,
  )
  const shared = byNonce.filter(([, group]) => new Set(group.map(({ data }) => data)).size > 1)
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
 * @param losses failovers that may have lost the cursor's last steps: each tells again what came after the cursor that is left
 * @param later events after the cursor, which a server may have told by now, each once
 */
export function judgeNarration(
  expected: readonly string[],
  told: readonly string[],
  {
    deaths,
    losses,
    later,
  }: { readonly deaths: number; readonly losses: number; readonly later: readonly string[] },
) {
  const left = new Map<string, number>()
  for (const line of told) left.set(line, (left.get(line) ?? 0) + 1)
  const isMissing = expected.map((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count < 1
  })
  for (const line of later) left.set(line, Math.max(0, (left.get(line) ?? 0) - 1))
  const missing = isMissing.filter(Boolean).length
  const gaps = isMissing.filter((is, index) => is && !isMissing[index - 1]).length
  const known = new Map<string, number>()
  for (const line of [...expected, ...later]) known.set(line, (known.get(line) ?? 0) + 1)
  const surplus = [...left].filter(([line, count]) => count > losses * (known.get(line) ?? 0))
  return {
    missing,
    repeated: [...left.values()].reduce((sum, count) => sum + Math.max(0, count), 0),
    violations: [
      ...surplus.map(([line]) => `narrated once too often: ${line}`),
      ...(gaps > deaths
        ? [`${missing} events in ${gaps} places were never narrated, after ${deaths} kills`]
        : []),
    ],
  }
}
