import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Service } from '../../service/lifetime.js'
import { describeError, type Logger } from '../../service/logger.js'
import { type Engine, type Row, StorageError, type Table } from './engine.js'

/** Rows that one look reads: a few milliseconds. */
const PAGE = 100
/** Pause between two looks. Two million rows a day are read. */
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

/** The tables whose closed rows are receipts of what is over, and the last time of such a row. Of `state`, only claims of openings. */
const LAST_TIMES = new Map<Table, (row: Row) => readonly number[]>([
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
])

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
  const stopping = new AbortController()
  let sweeping: Promise<void> | undefined

  function isPast(row: Row, timesOf: (row: Row) => readonly number[]): boolean {
    try {
      const times = timesOf(row)
      return times.length > 0 && Math.max(...times) < Date.now() - keptMs
    } catch {
      // One that cannot be read is for an operator to mend: its reader logs it.
      return false
    }
  }

  /** @returns the last row's id; undefined after the last page */
  async function sweepPage(table: Table, timesOf: (row: Row) => readonly number[], after: string) {
    const rows = await engine.closed(table, after, PAGE)
    const past = rows.filter((row) => isPast(row, timesOf))
    await Promise.all(past.map(({ id, version }) => engine.delete(table, id, version)))
    if (past.length > 0) logger.info('old records removed', { store: table, count: past.length })
    return rows.length < PAGE ? undefined : rows.at(-1)?.id
  }

  async function sweep(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const [table, timesOf] of LAST_TIMES) {
        let after: string | undefined = ''
        while (after !== undefined && !stopping.signal.aborted) {
          try {
            after = await sweepPage(table, timesOf, after)
          } catch (error) {
            if (!(error instanceof StorageError)) throw error
            logger.warn('old records not removed', { store: table, ...describeError(error) })
          }
          await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        }
      }
    }
  }

  return {
    name: 'retention',
    async start() {
      sweeping = sweep()
    },
    async stop() {
      stopping.abort()
      await sweeping
    },
  }
}
