import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRateBudget, type RateBudget, type Token } from '../../src/broker/rateBudget.js'
import type { Purpose } from '../../src/broker/rateLimit.js'

const START = Date.parse('2027-01-05T14:00:00Z')
const MINUTE = 60_000
const RESET = START / 1_000 + 60

beforeEach(() => {
  vi.useFakeTimers({ now: START })
})
afterEach(() => {
  vi.useRealTimers()
})

const newBudget = () => createRateBudget({ now: () => Date.now() })

/** An answer that says what is left of 200 until a minute after the start. */
function saying(remaining: number | string, reset: number | string = RESET, limit: number | string = 200) {
  return {
    status: 200,
    headers: {
      date: new Date(Date.now()).toUTCString(),
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(reset),
    },
  }
}

const others = (purpose: Exclude<Purpose, 'place'>, withinMs = 10_000) => ({ purpose, withinMs }) as const
const turnAt = (openedAt: number) => ({ orderId: String(openedAt), openedAt })
const placing = (openedAt: number, withinMs = 10_000) =>
  ({ purpose: 'place', turn: turnAt(openedAt), withinMs }) as const

/** A budget that knows how many requests are left. */
async function knowing(remaining: number, limit = 200): Promise<RateBudget> {
  const budget = newBudget()
  const token = await budget.take(others('awaited'))
  token?.spent(saying(remaining, RESET, limit))
  return budget
}

/** Asks for tokens by name, and keeps who has got one and who none. */
function asking(budget: RateBudget) {
  const granted: string[] = []
  const refused: string[] = []
  const tokens = new Map<string, Token>()
  return {
    granted,
    refused,
    tokens,
    ask(name: string, ask: Parameters<RateBudget['take']>[0]) {
      void budget.take(ask).then((token) => {
        if (token === null) refused.push(name)
        else {
          granted.push(name)
          tokens.set(name, token)
        }
      })
    },
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const PURPOSES = { c: 'cancel', p: 'place', s: 'awaited', o: 'other' } as const

/** With so many of 200 left: the requests that come at each ms, by the first letters of their purposes, and who has a token then. */
const tables: Record<string, [left: number, ...steps: [at: number, asks: string, holds: string][]]> = {
  'cancels and what settles may take the last one, placements and the rest leave a tenth': [
    22,
    [0, 'p1 o1 p2', 'p1 o1'],
    [1, 'c1 s1', 'p1 o1 c1 s1'],
  ],
  'the kept tenth shrinks with the time, and what waited gets it': [
    20,
    [0, 'p1 p2', ''],
    [2_900, '', ''],
    [3_100, '', 'p1'],
    [6_100, '', 'p1 p2'],
  ],
  'an empty bucket fills at the reset, the most urgent first': [
    0,
    [51_000, 'o1 s1 p1 c1', ''],
    [59_900, '', ''],
    [60_001, '', 'c1 p1 s1 o1'],
  ],
}
it.each(Object.entries(tables))(
  'a window is as its answers say, step by step: %s',
  async (_name, [left, ...steps]) => {
    const { ask, granted } = asking(await knowing(left))
    let [time, opened] = [0, 0]
    for (const [at, asks, holds] of steps) {
      await pass(at - time)
      time = at
      for (const name of asks.split(' ').filter((each) => each !== '')) {
        opened += 1
        const purpose = Object.entries(PURPOSES).find(([letter]) => name.startsWith(letter))?.[1] ?? 'other'
        ask(name, purpose === 'place' ? placing(opened) : others(purpose))
      }
      await pass(0)
      expect(granted.join(' '), `at ${at} ms`).toBe(holds)
    }
  },
)

it('placements find out the tokens of a new window, ten at once', async () => {
  const budget = await knowing(0)
  await pass(60_001)
  const { ask, granted, tokens } = asking(budget)
  for (let number = 1; number <= 30; number++) ask(`p${number}`, placing(number))
  await pass(0)
  expect(granted).toHaveLength(10)
  tokens.get('p1')?.spent(saying(199, RESET + 60))
  await pass(0)
  expect(granted).toHaveLength(30)
})

it('placements go by their escrows, the oldest first, whoever asked first', async () => {
  const { ask, granted } = asking(await knowing(0))
  await pass(55_000)
  for (const openedAt of [9, 3, 1, 5, 2, 4, 6]) ask(`p${openedAt}`, placing(openedAt))
  await pass(5_001)
  expect(granted).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p9'])
})

it('placements are refused at once when the token would come too late, and in time when it comes after all', async () => {
  const budget = await knowing(21)
  const { ask, granted, refused } = asking(budget)
  // One is free, and the tenth that is kept loses one in three seconds.
  for (let number = 1; number <= 6; number++) ask(`p${number}`, placing(number))
  await pass(0)
  expect({ granted, refused }).toEqual({ granted: ['p1'], refused: ['p5', 'p6'] })
  await pass(9_900)
  expect(granted).toEqual(['p1', 'p2', 'p3', 'p4'])
})

it('placements that have to come again are spread over the coming windows, the oldest first, and know how many are ahead', async () => {
  const budget = await knowing(0)
  await pass(50_000)
  const told = Array.from({ length: 400 }, (_, place) => budget.defer(turnAt(place)))
  expect(told.map(({ ahead }) => ahead)).toEqual(Array.from({ length: 400 }, (_, place) => place))
  const times = told.map(({ until }) => until - START)
  expect(times.filter((time) => time === MINUTE)).toHaveLength(180)
  expect(times.filter((time) => time === 2 * MINUTE)).toHaveLength(180)
  expect(times.filter((time) => time === 3 * MINUTE)).toHaveLength(40)
  // An older one that comes later goes before them.
  expect(budget.defer(turnAt(-1))).toEqual({ until: START + MINUTE, ahead: 0 })
})

it('placements get no token that an older one is due for, until that one has not come', async () => {
  const budget = await knowing(0)
  await pass(50_000)
  for (let place = 1; place <= 180; place++) budget.defer(turnAt(place))
  await pass(10_001)
  const { ask, granted, refused, tokens } = asking(budget)
  ask('young', placing(999, 0))
  ask('p1', placing(1))
  await pass(0)
  tokens.get('p1')?.spent(saying(199, RESET + 60))
  for (let place = 2; place <= 179; place++) ask(`p${place}`, placing(place))
  ask('younger', placing(1_000))
  await pass(0)
  expect(refused).toEqual(['young'])
  expect(granted).toHaveLength(179)
  // The last one of them does not come.
  await pass(5_000)
  expect(granted).not.toContain('younger')
  ask('late', placing(1_001, 10_000))
  await pass(10_000)
  expect(granted).toContain('late')
})

it('the learnt limit is scarce exactly while placements wait for the limit, not while a window is unknown', async () => {
  const budget = newBudget()
  for (let number = 0; number < 10; number++) await budget.take(placing(number, 0))
  expect([await budget.take(placing(11, 0)), budget.isScarce()]).toEqual([null, false])
  expect((await knowing(20)).isScarce()).toBe(true)
  expect((await knowing(21)).isScarce()).toBe(false)
})

it('a request that was not sent gives its token back, one whose answer is lost does not', async () => {
  const budget = await knowing(2)
  const [first, second] = [await budget.take(others('cancel')), await budget.take(others('cancel'))]
  expect(await budget.take(others('cancel', 0))).toBeNull()
  first?.release()
  first?.release()
  const third = await budget.take(others('cancel', 0))
  expect(third).not.toBeNull()
  second?.spent()
  third?.spent()
  expect(await budget.take(others('cancel', 0))).toBeNull()
})

it('a broker that states no limit is asked again after its 429, after a pause that grows', async () => {
  const budget = newBudget()
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    const token = await budget.take(others('awaited'))
    token?.spent({ status: 429, headers: {} })
    expect(await budget.take(others('awaited', 0))).toBeNull()
    expect(budget.resetAt()).toBe(Date.now() + pauseMs)
    await pass(pauseMs - 1)
    expect(await budget.take(others('cancel', 0))).toBeNull()
    await pass(1)
  }
})

it('a gateway that fails in the place of the broker does not set the limit free', async () => {
  const budget = await knowing(0)
  await pass(MINUTE)
  const token = await budget.take(others('awaited'))
  token?.spent({ status: 502, headers: {} })
  const { granted, ask } = asking(budget)
  for (let number = 0; number < 100; number++) ask(`p${number}`, placing(number))
  await pass(1)
  expect(granted.length).toBeLessThanOrEqual(10)
})

const HOUR_AHEAD = START + 3_600_000
it.each([
  ['its reset alone, beside 429', { status: 429, headers: { 'x-ratelimit-reset': String(RESET) } }, MINUTE],
  ['a reset further away than a minute', saying(0, 99_999_999_999), MINUTE],
  [
    'a reset by another clock than ours',
    {
      status: 200,
      headers: { ...saying(0, HOUR_AHEAD / 1_000 + 30).headers, date: new Date(HOUR_AHEAD).toUTCString() },
    },
    30_000,
  ],
])('an answer with %s holds requests back until then', async (_what, answer, ms) => {
  const budget = newBudget()
  const token = await budget.take(others('awaited'))
  token?.spent(answer)
  expect(budget.resetAt()).toBe(START + ms)
})
