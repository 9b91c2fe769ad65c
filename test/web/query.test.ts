import { effect, signal } from '@preact/signals'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../src/client/index.js'
import { createCalm } from '../../web/calm.js'
import { type Ask, createQuery, following, type Query, type QueryOptions } from '../../web/query.js'

const EVERY_MS = 1_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

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
    await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
    expect(asked).toHaveLength(0)
    const { shown } = show(query)
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect(asked).toHaveLength(2)
    query.refresh()
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, false])
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect(shown).toEqual([null, 1, 2, 3, 4])
  })

  it('keeps its answer when it is left, and asks nothing then, even if it should refresh', async () => {
    const { asked, query } = counting()
    const { leave } = show(query)
    await vi.advanceTimersByTimeAsync(0)
    leave()
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    query.refresh()
    await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
    expect(asked).toHaveLength(1)
    const again = show(query)
    expect(again.shown).toEqual([1])
    await vi.advanceTimersByTimeAsync(0)
    expect(again.shown).toEqual([1, 2])
    again.leave()
  })

  it('forgets the answer to another question, and asks nothing without one', async () => {
    const name = signal<string | null>('one')
    const isSeen = signal(true)
    const question = () => (name.value === null ? null : async () => name.peek())
    const query = createQuery<string | null>({ isSeen, question, pace: EVERY_MS })
    const { shown } = show(query)
    await vi.advanceTimersByTimeAsync(0)
    name.value = null
    await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
    expect(query.answered).toBe(false)
    name.value = 'two'
    await vi.advanceTimersByTimeAsync(0)
    expect(shown).toEqual([null, 'one', null, 'two'])
  })

  it('asks again when a signal changes that the question reads first, and keeps the answer until then', async () => {
    const count = signal(1)
    const ask = async () => count.value
    const query = createQuery({ isSeen: signal(true), question: () => ask, pace: () => null })
    const { shown } = show(query)
    await vi.advanceTimersByTimeAsync(0)
    count.value = 2
    await vi.advanceTimersByTimeAsync(10 * EVERY_MS)
    expect(shown).toEqual([null, 1, 2])
  })

  it('keeps the last answer beside a later failure, and the failure until the next answer', async () => {
    const failure = new Error('away')
    const ask = vi
      .fn<Ask<number>>()
      .mockResolvedValueOnce(1)
      .mockRejectedValueOnce(failure)
      .mockResolvedValue(2)
    const { query } = counting({ question: () => ask })
    show(query)
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect({ value: query.value, error: query.error }).toEqual({ value: 1, error: failure })
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect({ value: query.value, error: query.error }).toEqual({ value: 2, error: null })
  })

  it('ignores the late answer of a question that was called off', async () => {
    let answerLate = (_value: number) => {}
    const late = new Promise<number>((resolve) => {
      answerLate = resolve
    })
    const ask = vi.fn<Ask<number>>().mockReturnValueOnce(late).mockResolvedValue(2)
    const { query } = counting({ question: () => ask })
    const { shown } = show(query)
    query.refresh()
    await vi.advanceTimersByTimeAsync(0)
    answerLate(1)
    await vi.advanceTimersByTimeAsync(0)
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
  const query = createQuery({ isSeen: signal(true), question: () => ask, pace: () => null, aged })
  const seen = []
  for (let turn = 0; turn < 2; turn++) {
    const { shown, leave } = show(query)
    await vi.advanceTimersByTimeAsync(0)
    leave()
    seen.push(...shown)
  }
  expect(seen.filter((one) => one !== null)).toEqual([
    ...['part 1', 'whole 1', 'aged whole 1', 'part 2', 'whole 2'],
  ])
})

describe('a query through a wallet', () => {
  it('goes on polling when the wallet leaves a request unanswered', async () => {
    const address = `0x${'01'.repeat(20)}` as const
    const request = vi.fn(() => new Promise(() => undefined))
    const options = { serverUrl: 'http://127.0.0.1:1', account: address, pins: { escrow: address } }
    const client = createClient({ ...options, wallet: { request }, allowUnattested: true })
    const ask = () => client.getFunds()
    const query = createQuery({ isSeen: signal(true), question: () => ask, pace: EVERY_MS })
    show(query)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(query.error).toMatchObject({ code: 'node-timeout', retryable: true })
    request.mockClear()
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect(request).toHaveBeenCalled()
  })
})

describe('a followed generator', () => {
  it('is followed to its end once, however often it is shown', async () => {
    const begun = vi.fn(async function* () {
      yield 1
      yield 2
    })
    const question = following(begun)
    const query = createQuery({ isSeen: signal(true), question: () => question, pace: () => null })
    const first = show(query)
    await vi.advanceTimersByTimeAsync(0)
    first.leave()
    expect(first.shown).toEqual([null, 1, 2])
    const second = show(query)
    await vi.advanceTimersByTimeAsync(0)
    second.leave()
    expect(second.shown).toEqual([2])
    expect(begun).toHaveBeenCalledTimes(1)
  })

  it('begins again after a failure', async () => {
    const begun = vi.fn(async function* () {
      yield 1
      if (begun.mock.calls.length === 1) throw new Error('away')
      yield 2
    })
    const question = following(begun)
    const query = createQuery({ isSeen: signal(true), question: () => question, pace: EVERY_MS })
    show(query)
    await vi.advanceTimersByTimeAsync(0)
    expect(query.value).toBe(1)
    expect(query.error).toBeInstanceOf(Error)
    await vi.advanceTimersByTimeAsync(EVERY_MS)
    expect(query.value).toBe(2)
    expect(query.error).toBeNull()
  })
})

describe('a page where nothing moves', () => {
  const MINUTE_MS = 60_000

  /** A shown query of a page, and when it was asked. */
  function showCalm() {
    const calm = createCalm()
    const { asked, isSeen, query } = counting({ calm, pace: 3_000 })
    return { calm, asked, isSeen, ...show(query) }
  }

  it('asks every half minute at last', async () => {
    const { asked } = showCalm()
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
    const before = asked.length
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
    expect(before).toBeLessThan(10)
    expect(asked.length - before).toBe(20)
  })

  it('asks at its pace while something moves', async () => {
    const { calm, asked } = showCalm()
    for (let second = 0; second < 60; second++) {
      calm.stir()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(asked).toHaveLength(1 + 60 / 3)
  })

  it('asks at once when something moves again, and at its pace from then on', async () => {
    const { calm, asked } = showCalm()
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS)
    const before = asked.length
    calm.stir()
    expect(asked).toHaveLength(before + 1)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(asked).toHaveLength(before + 2)
  })

  it('asks nothing while it is hidden, also when something moves', async () => {
    const { calm, asked, isSeen } = showCalm()
    isSeen.value = false
    expect(asked.map(({ aborted }) => aborted)).toEqual([true])
    calm.stir()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(asked).toHaveLength(1)
    isSeen.value = true
    expect(asked).toHaveLength(2)
  })
})
