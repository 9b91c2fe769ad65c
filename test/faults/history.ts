// Violations that no fault excuses. Each verdict is a function of the bench's notes, so that a test can falsify the notes.
import { Transaction } from 'ethers'
import * as z from 'zod'
import type { AuditEvent } from './audit.js'

/** A transaction on its way from a server to a node. */
export interface Broadcast {
  /** Unix milliseconds. */
  readonly at: number
  readonly nonce: number
  readonly raw: string
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

/** Rows that a term's holder has written after its successor had taken the lease. */
export function lateRows(events: readonly AuditEvent[]): string[] {
  const leaseOf = createLeaseOf()
  const holders = new Map<string, AuditEvent>()
  return events.flatMap((event) => {
    const { table, id, server, kind } = event
    if (table === 'leases') {
      if (kind !== 'delete') holders.set(id.toLowerCase(), event)
      return []
    }
    const holder = holders.get(leaseOf(event) ?? '')
    if (holder === undefined || holder.server === server) return []
    return [`${table} ${id}: ${server} wrote it after ${holder.server} had taken ${holder.id}`]
  })
}

/** Transactions that the store did not have when they were sent. */
export function unsavedBroadcasts(events: readonly AuditEvent[], sent: readonly Broadcast[]): string[] {
  /** When each transaction was first stored, by its bytes. */
  const stored = new Map<string, number>()
  for (const { table, id, kind, doc, at } of events) {
    const isNoOp = table === 'state' && id.startsWith('no-op:')
    if (kind === 'delete' || (!isNoOp && table !== 'relays')) continue
    const parsed: unknown = JSON.parse(doc)
    const transactions = isNoOp ? transactionsSchema.parse(parsed) : relaySchema.parse(parsed).transactions
    for (const { raw } of transactions) if (raw !== undefined && !stored.has(raw)) stored.set(raw, at)
  }
  return sent.flatMap(({ at, nonce, raw }) => {
    const savedAt = stored.get(raw)
    if (savedAt !== undefined && savedAt <= at + 1) return []
    return [`nonce ${nonce}: sent ${savedAt === undefined ? 'and never saved' : 'before it was saved'}`]
  })
}
