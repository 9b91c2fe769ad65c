import { createPoller, type Service } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import type { Engine, Row } from './engine.js'

/** Rows that one sweep reads: a few milliseconds. */
const PAGE = 100
/** Pause between two sweeps. Two million rows a day are read. */
const PAUSE_MS = 4_000

/** The tables whose closed rows are receipts of what is over; of `state`, only claims of openings. */
const TABLES = ['orders', 'relays', 'cancels', 'state'] as const
/** A time within a document, which a server of another version may have written. */
const TIME = /(?<=")\d{4}-\d\d-\d\dT[\d:.]+Z(?=")/g

/**
 * Removes what ended longer ago than `keptMs`, a page at a time; several servers may. The rows protect nothing: the contracts refuse
 * repeats by the escrow's state, used digests, versions and deadlines.
 *
 * @param options.keptMs beyond the longest deadline and its reclaim, so that nothing that may still go on is forgotten
 */
export function createRetention(options: {
  readonly engine: Pick<Engine, 'closed' | 'transact'>
  readonly keptMs: number
  readonly pauseMs?: number
  readonly logger: Logger
}): Service {
  const { engine, keptMs, pauseMs = PAUSE_MS, logger } = options
  let place = 0
  let after = ''

  /** A document without a time stays: it is for an operator to mend. */
  function isPast({ doc }: Row): boolean {
    const times = (doc.match(TIME) ?? []).map((text) => Date.parse(text))
    return times.length > 0 && Math.max(...times) < Date.now() - keptMs
  }

  async function sweepPage(): Promise<void> {
    const table = TABLES[place] ?? TABLES[0]
    const rows = await engine.closed(table, after, PAGE)
    const past = rows.filter((row) => (table !== 'state' || row.id.startsWith('opening:')) && isPast(row))
    await Promise.all(
      past.map(({ id, version }) => engine.transact([{ kind: 'delete', table, id, version }])),
    )
    if (past.length > 0) logger.info('old records removed', { store: table, count: past.length })
    const last = rows.length < PAGE ? undefined : rows.at(-1)?.id
    if (last === undefined) place = (place + 1) % TABLES.length
    after = last ?? ''
  }

  return createPoller({ name: 'retention', intervalMs: pauseMs, tick: sweepPage, logger })
}
