import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../../src/server/store/engine.js'
import { createServeLease, type Term } from '../../../src/server/store/leaseHolder.js'
import { createHook } from '../../../src/service/lifetime.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { openStores, putRow, takeOver } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { rowOf } from './contract/engineContract.js'

const TTL_MS = 2_000
/** A busy machine that holds up a renewal for seconds does not lose this lease. */
const PATIENT_MS = 8_000

/** A process's side of the lease, which notes the terms that it serves. */
async function hold(
  engine: Engine,
  holder: string,
  options: {
    readonly start?: (term: Term) => unknown
    readonly stop?: (term: Term) => unknown
    readonly ttlMs?: number
    readonly stopping?: AbortSignal
  } = {},
) {
  const terms: Term[] = []
  const log = createLogLines()
  const serveLease = createServeLease({
    engine,
    holder,
    ttlMs: TTL_MS,
    logger: log.logger,
    ...options,
  })
  const service = serveLease('trigger', (_, term) => {
    terms.push(term)
    const { start, stop } = options
    return [createHook('the work', { start: () => start?.(term), stop: () => stop?.(term) })]
  })
  await service.start()
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= service.stop())
  onTestFinished(stop)
  return {
    terms,
    log,
    stop,
    latest: () => eventually(`${holder} holds the lease`, () => terms.at(-1)),
  }
}

test('one holder renews its term, and the next one takes over once the first has torn down', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const steps: string[] = []
  const first = await hold(engine, 'first', {
    ttlMs: PATIENT_MS,
    async stop(term) {
      expect(await putRow(engine, 'runs', rowOf('last', 1), term.fence)).toBe('written')
      steps.push('first torn down')
    },
  })
  const term = await first.latest()
  const second = await hold(engine, 'second', {
    ttlMs: PATIENT_MS,
    start: () => steps.push('second built'),
  })
  const heldAt = performance.now()
  await eventually('more than its time to live', () => performance.now() - heldAt > 1.2 * PATIENT_MS)
  expect(first.terms).toHaveLength(1)
  expect(second.terms).toEqual([])
  expect(term.isTrusted()).toBe(true)
  expect((await engine.leases.list()).map(({ holder }) => holder)).toEqual(['first'])
  await first.stop()
  expect(term.isTrusted()).toBe(false)
  const next = await second.latest()
  expect(next.fence.term).not.toBe(term.fence.term)
  expect(steps).toEqual(['first torn down', 'second built'])
  await second.stop()
  expect(await engine.leases.list()).toEqual([])
})

test('a process that begins to stop gives its lease back before its end', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  const stopping = new AbortController()
  const first = await hold(engine, 'first', { stopping: stopping.signal })
  await first.latest()
  const second = await hold(engine, 'second')
  expect(second.terms).toEqual([])
  stopping.abort()
  await second.latest()
})

test('a term that ends by itself, fails or has lost its lease is followed by another one', async () => {
  const { engine } = await openStores(await temporaryDirectory())
  let served = 0
  const { terms, log, latest } = await hold(engine, 'only', {
    async start(term) {
      served++
      if (served === 1) term.end()
      if (served === 2) throw new RangeError('a secret')
      if (served === 3) {
        const thief = await takeOver(engine, 'trigger')
        expect(await putRow(engine, 'runs', rowOf('a', 1), term.fence)).toBe('lost-term')
        await engine.leases.release(thief)
        term.end()
      }
      if (served === 4) await engine.leases.release(await takeOver(engine, 'trigger'))
    },
  })
  await eventually('five terms', () => terms.length === 5)
  const last = await latest()
  expect(new Set(terms.map(({ fence }) => fence.term)).size).toBe(5)
  expect(terms.map(({ signal }) => signal.aborted)).toEqual([true, true, true, true, false])
  expect(await putRow(engine, 'runs', rowOf('a', 1), last.fence)).toBe('written')
  expect(log.lines().filter(({ msg }) => msg === 'term failed')).toMatchObject([
    { recordId: 'trigger', errorName: 'RangeError' },
  ])
  expect(log.text()).not.toContain('a secret')
})
