import { expect, onTestFinished, test } from 'vitest'
import { createRetention } from '../../../src/server/store/retention.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores, putRow } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DAY_MS = 86_400_000
const KEPT_DAYS = 40

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
const order = (receivedAt: string, finishedAt: string | null) => ({
  candidates: [{ receivedAt }],
  triggers: [{ startedAt: receivedAt, finishedAt }],
})
const receipt = (updatedAt: string) => ({ receipt: { updatedAt } })
const [before, after] = [daysAgo(KEPT_DAYS + 1), daysAgo(KEPT_DAYS - 1)]

/** By table and id: the document, whether the row is open, and whether it stays. */
const ROWS = [
  ['orders', 'old', order(before, before), false, false],
  ['orders', 'old-that-never-ran', { candidates: [{ receivedAt: before }], triggers: [] }, false, false],
  ['orders', 'ended-lately', order(before, after), false, true],
  ['orders', 'open', order(before, before), true, true],
  ['orders', 'without-a-time', { candidates: [], triggers: [] }, false, true],
  ['relays', 'old', receipt(before), false, false],
  ['relays', 'late', receipt(after), false, true],
  ['relays', 'open', receipt(before), true, true],
  ['relays', 'unreadable', {}, false, true],
  ['cancels', 'old', { receivedAt: before }, false, false],
  ['cancels', 'open', { receivedAt: before }, true, true],
  ['state', 'opening:old', { at: before }, false, false],
  ['state', 'opening:late', { at: after }, false, true],
  ['state', 'openings-of:0', { at: before }, false, true],
] as const

test('records that ended before RECORD_RETENTION are removed, and nothing else', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  // More than one look reads.
  const many = Array.from({ length: 250 }, (_, index) => `many-${index}`)
  const old = many.map((id) => ['relays', id, receipt(before), false] as const)
  await Promise.all(
    [...ROWS, ...old].map(([table, id, doc, isOpen]) =>
      putRow(engine, table, { id, version: 1, isOpen, uniqueKey: null, doc: JSON.stringify(doc) }),
    ),
  )
  const { logger, lines } = createLogLines()
  const retention = createRetention({ engine, keptMs: KEPT_DAYS * DAY_MS, pauseMs: 1, logger })
  await retention.start()
  onTestFinished(() => retention.stop())
  await expect.poll(() => engine.get('state', 'opening:old')).toBeUndefined()
  for (const [table, id, , , stays] of ROWS)
    expect((await engine.get(table, id)) !== undefined, `${table} ${id}`).toBe(stays)
  expect(await engine.getMany('relays', many)).toEqual([])
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'old records removed', store: 'cancels', count: 1 }),
  )
})
