import { effect, signal } from '@preact/signals'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCalm } from '../../web/calm.js'
import { type Ask, createQuery, following, type Query, type QueryOptions } from '../../web/query.js'

const EVERY_MS = 1_000
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const onDemand = { isSeen: signal(true), pace: () => null }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Shows a query as a component does, until it is left or the test ends. */
function show<T>(query: Query<T>) {
  const shown: (T | null)[] = []
  const leave = effect(() => {
    shown.push(query.value)
  })
  onTestFinished(leave)
  return { shown, leave }
}

/** A query that counts how often it was asked. */
function counting(options: Partial<QueryOptions<number>> = {}) {
  const asked: AbortSignal[] = []
  const isSeen = signal(true)
  const ask = async (aborted: AbortSignal) => asked.push(aborted)
  const query = createQuery<number>({ isSeen, question: () => ask, pace: EVERY_MS, ...options })
  return { asked, isSeen, query }
}

describe('a query', () => {
  it('asks nothing until its answer is shown, then at once and at a pace', async () => {
    const { asked, query } = counting()
    await pass(10 * EVERY_MS)
    expect(asked).toHaveLength(0)
    const { shown } = show(query)
    await pass(EVERY_MS)
    expect(asked).toHaveLength(2)
    query.refresh()
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, false])
    await pass(EVERY_MS)
    expect(shown).toEqual([null, 1, 2, 3, 4])
  })

  it('keeps its answer when it is left, and asks nothing then, even if it should refresh', async () => {
    const { asked, query } = counting()
    const { leave } = show(query)
    await pass(0)
    leave()
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    query.refresh()
    await pass(10 * EVERY_MS)
    expect(asked).toHaveLength(1)
    const again = show(query)
    expect(again.shown).toEqual([1])
    await pass(0)
    expect(again.shown).toEqual([1, 2])
    again.leave()
  })

  it('forgets the answer to another question, and asks nothing without one', async () => {
    const name = signal<string | null>('one')
    const isSeen = signal(true)
    const question = () => (name.value === null ? null : async () => name.peek())
    const query = createQuery<string | null>({ isSeen, question, pace: EVERY_MS })
    const { shown } = show(query)
    await pass(0)
    name.value = null
    await pass(10 * EVERY_MS)
    expect(query.answered).toBe(false)
    name.value = 'two'
    await pass(0)
    expect(shown).toEqual([null, 'one', null, 'two'])
  })

  it('asks again when a signal changes that the question reads first, and keeps the answer until then', async () => {
    const count = signal(1)
    const ask = async () => count.value
    const query = createQuery({ ...onDemand, question: () => ask })
    const { shown } = show(query)
    await pass(0)
    count.value = 2
    await pass(10 * EVERY_MS)
    expect(shown).toEqual([null, 1, 2])
  })

  it('keeps the last answer beside a later failure, and the failure until the next answer', async () => {
    const failure = new Error('away')
    const ask = vi.fn<Ask<number>>().mockResolvedValueOnce(1).mockRejectedValueOnce(failure)
    const { query } = counting({ question: () => ask.mockResolvedValue(2) })
    show(query)
    await pass(EVERY_MS)
    expect([query.value, query.error]).toEqual([1, failure])
    await pass(EVERY_MS)
    expect([query.value, query.error]).toEqual([2, null])
  })

  it('ignores the late answer of a question that was called off', async () => {
    const late = Promise.withResolvers<number>()
    const ask = vi.fn<Ask<number>>().mockReturnValueOnce(late.promise).mockResolvedValue(2)
    const { query } = counting({ question: () => ask })
    const { shown } = show(query)
    query.refresh()
    await pass(0)
    late.resolve(1)
    await pass(0)
    expect(shown).toEqual([null, 2])
  })
})

it('a query shows what it kept as aged until it is answered again, and parts of an answer as they come', async () => {
  let count = 0
  const ask: Ask<string> = async (_aborted, report) => {
    count += 1
    await Promise.resolve()
    report(`part ${count}`)
    await Promise.resolve()
    return `whole ${count}`
  }
  const aged = (value: string) => `aged ${value}`
  const query = createQuery({ ...onDemand, question: () => ask, aged })
  const seen = []
  for (let turn = 0; turn < 2; turn++) {
    const { shown, leave } = show(query)
    await pass(0)
    leave()
    seen.push(...shown)
  }
  expect(seen.filter((one) => one !== null)).toEqual([
    ...['part 1', 'whole 1', 'aged whole 1', 'part 2', 'whole 2'],
  ])
})

it('a followed generator begins again after a failure, and is followed to its end once, however often it is shown', async () => {
  const begun = vi.fn(async function* () {
    yield 1
    if (begun.mock.calls.length === 1) throw new Error('away')
    yield 2
  })
  const question = following(begun)
  const query = createQuery({ ...onDemand, question: () => question, pace: EVERY_MS })
  const first = show(query)
  await pass(0)
  expect([query.value, query.error]).toEqual([1, new Error('away')])
  await pass(EVERY_MS)
  expect([query.value, query.error]).toEqual([2, null])
  first.leave()
  const second = show(query)
  await pass(0)
  expect(second.shown).toEqual([2])
  expect(begun).toHaveBeenCalledTimes(2)
})

describe('a page where nothing moves', () => {
  const MINUTE_MS = 60_000

  /** A shown query of a page, and when it was asked. */
  function showCalm() {
    const calm = createCalm()
    const { asked, isSeen, query } = counting({ calm, pace: 3_000 })
    return { calm, asked, isSeen, ...show(query) }
  }

  it('asks every half minute at last; at once when something moves again, and at its pace from then on', async () => {
    const { calm, asked } = showCalm()
    await pass(2 * MINUTE_MS)
    expect(asked.length).toBeLessThan(10)
    const before = asked.length
    await pass(10 * MINUTE_MS)
    expect(asked.length - before).toBe(20)
    for (let second = 0; second < 60; second++) {
      calm.stir()
      await pass(1_000)
    }
    expect(asked.length - before - 20).toBe(1 + 60 / 3)
  })

  it('asks nothing while it is hidden, also when something moves', async () => {
    const { calm, asked, isSeen } = showCalm()
    isSeen.value = false
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    calm.stir()
    await pass(MINUTE_MS)
    expect(asked).toHaveLength(1)
    isSeen.value = true
    expect(asked).toHaveLength(2)
  })
})
