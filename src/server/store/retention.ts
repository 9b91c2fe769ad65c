import { z } from 'zod'
import { createPoller, type Service } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Engine, Row, Table } from './engine.js'

/** Rows that one sweep reads: a few milliseconds. */
const PAGE = 100
/** Pause between two sweeps. Two million rows a day are read. */
const PAUSE_MS = 4_000

const time = z.iso.datetime().transform((text) => Date.parse(text))
/** Loose: a server of another version may have written the row. */
const orderSchema = z.object({
  candidates: z.array(z.object({ receivedAt: time })),
  triggers: z.array(z.object({ startedAt: time, finishedAt: time.nullable() })),
})
const relaySchema = z.object({ receipt: z.object({ updatedAt: time }) })
const cancelSchema = z.object({ receivedAt: time })
const openingSchema = z.object({ at: time })

type Last = readonly [Table, (row: Row) => readonly number[]]

/** The tables whose closed rows are receipts of what is over, and the last time of such a row. Of `state`, only claims of openings. */
const LAST_TIMES: readonly [Last, ...Last[]] = [
  [
    'orders',
    ({ doc }) => {
      const { candidates, triggers } = orderSchema.parse(JSON.parse(doc))
      const ofRuns = triggers.map(({ startedAt, finishedAt }) => finishedAt ?? startedAt)
      return [...candidates.map(({ receivedAt }) => receivedAt), ...ofRuns]
    },
  ],
  ['relays', ({ doc }) => [relaySchema.parse(JSON.parse(doc)).receipt.updatedAt]],
  ['cancels', ({ doc }) => [cancelSchema.parse(JSON.parse(doc)).receivedAt]],
  ['state', ({ id, doc }) => (id.startsWith('opening:') ? [openingSchema.parse(JSON.parse(doc)).at] : [])],
]

/**
 * Removes what ended longer ago than `keptMs`, a page at a time; several servers may. The rows protect nothing: the contracts refuse
 * repeats by the escrow's state, used digests, versions and deadlines.
 *
 * @param options.keptMs beyond the longest deadline and its reclaim, so that nothing that may still go on is forgotten
 */
export function createRetention(options: {
  readonly engine: Pick<Engine, 'closed' | 'delete'>
  readonly keptMs: number
  readonly pauseMs?: number
  readonly logger: Logger
}): Service {
  const { engine, keptMs, pauseMs = PAUSE_MS, logger } = options
  let place = 0
  let after = ''

  function isPast(row: Row, timesOf: (row: Row) => readonly number[]): boolean {
    try {
      const times = timesOf(row)
      return times.length > 0 && Math.max(...times) < Date.now() - keptMs
    } catch {
      // One that cannot be read is for an operator to mend: its reader logs it.
      return false
    }
  }

  async function sweepPage(): Promise<void> {
    const [table, timesOf] = LAST_TIMES[place] ?? LAST_TIMES[0]
    const rows = await engine.closed(table, after, PAGE)
    const past = rows.filter((row) => isPast(row, timesOf))
    await Promise.all(past.map(({ id, version }) => engine.delete(table, id, version)))
    if (past.length > 0) logger.info('old records removed', { store: table, count: past.length })
    const last = rows.length < PAGE ? undefined : rows.at(-1)?.id
    if (last === undefined) place = (place + 1) % LAST_TIMES.length
    after = last ?? ''
  }

  return createPoller({ name: 'retention', intervalMs: pauseMs, tick: sweepPage, logger })
}
