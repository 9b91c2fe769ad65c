import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRateBudget, type Purpose, type RateBudget, type Token } from '../../src/broker/rateBudget.js'
import { createRandom } from '../../src/simulator/random.js'

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
const placing = (account: string, openedAt: bigint | number, withinMs = 10_000) =>
  ({ purpose: 'place', turn: { account, openedAt }, withinMs }) as const

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

/** Begins with so many of 200 left: the requests at each ms, and the holders of tokens at the end of each step. */
const tables: Record<
  string,
  { left: number; steps: [at: number, asks: [string, Purpose][], holds: string][] }
> = {
  'cancels and what settles may take the last one, placements and the rest leave a tenth': {
    left: 22,
    steps: [
      [
        0,
        [
          ['p1', 'place'],
          ['o1', 'other'],
          ['p2', 'place'],
        ],
        'p1 o1',
      ],
      [
        1,
        [
          ['c1', 'cancel'],
          ['s1', 'awaited'],
        ],
        'p1 o1 c1 s1',
      ],
    ],
  },
  'the kept tenth shrinks with the time, and what waited gets it': {
    left: 20,
    steps: [
      [
        0,
        [
          ['p1', 'place'],
          ['p2', 'place'],
        ],
        '',
      ],
      [2_900, [], ''],
      [3_100, [], 'p1'],
      [6_100, [], 'p1 p2'],
    ],
  },
  'an empty bucket fills at the reset, the most urgent first': {
    left: 0,
    steps: [
      [
        51_000,
        [
          ['o1', 'other'],
          ['s1', 'awaited'],
          ['p1', 'place'],
          ['c1', 'cancel'],
        ],
        '',
      ],
      [59_900, [], ''],
      [60_001, [], 'c1 p1 s1 o1'],
    ],
  },
}
it.each(Object.entries(tables))(
  'a window is as its answers say, step by step: %s',
  async (_name, { left, steps }) => {
    const budget = await knowing(left)
    const { ask, granted } = asking(budget)
    let time = 0
    let opened = 0
    for (const [at, asks, holds] of steps) {
      await pass(at - time)
      time = at
      for (const [name, purpose] of asks) {
        opened += 1
        ask(name, purpose === 'place' ? placing(name, opened) : others(purpose))
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
  for (let number = 1; number <= 30; number++) ask(`p${number}`, placing('a', number))
  await pass(0)
  expect(granted).toHaveLength(10)
  tokens.get('p1')?.spent(saying(199, RESET + 60))
  await pass(0)
  expect(granted).toHaveLength(30)
})

it('placements go by their escrows within an account, and accounts take turns, the oldest first', async () => {
  const { ask, granted } = asking(await knowing(0))
  await pass(55_000)
  for (const [account, openedAt] of [
    ['b', 9n],
    ['a', 3n],
    ['a', 1n],
    ['c', 5n],
    ['a', 2n],
    ['b', 4n],
    ['c', 6n],
  ] as const) {
    ask(`${account}${openedAt}`, placing(account, openedAt))
  }
  await pass(5_001)
  expect(granted).toEqual(['a1', 'b4', 'c5', 'a2', 'b9', 'c6', 'a3'])
})

it('placements that are looked up first get both tokens at one turn, in the order of all placements', async () => {
  const budget = await knowing(24)
  const turn = { account: 'a', openedAt: 1 }
  const [first, second] = [
    await budget.takeBoth({ turn, withinMs: 0 }),
    await budget.takeBoth({ turn, withinMs: 0 }),
  ]
  // They take nothing of the tenth that is kept for other requests.
  expect(await budget.takeBoth({ turn, withinMs: 0 })).toBeNull()
  expect(await budget.take(placing('b', 2, 0))).toBeNull()
  first?.lookUp.spent(saying(23))
  first?.place.spent(saying(22))
  expect(await budget.takeBoth({ turn, withinMs: 0 })).toBeNull()
  second?.lookUp.release()
  second?.place.release()
  expect(await budget.takeBoth({ turn, withinMs: 0 })).not.toBeNull()
})

it('placements are refused at once when the token would come too late, and in time when it comes after all', async () => {
  const budget = await knowing(21)
  const { ask, granted, refused } = asking(budget)
  // One is free, and the tenth that is kept loses one in three seconds.
  for (let number = 1; number <= 6; number++) ask(`p${number}`, placing('a', number))
  await pass(0)
  expect({ granted, refused }).toEqual({ granted: ['p1'], refused: ['p5', 'p6'] })
  await pass(9_900)
  expect(granted).toEqual(['p1', 'p2', 'p3', 'p4'])
})

it('placements that have to come again are spread over the coming windows', async () => {
  const budget = await knowing(0)
  await pass(50_000)
  const times = Array.from({ length: 400 }, () => budget.deferUntil() - START)
  expect(times.filter((time) => time === MINUTE)).toHaveLength(180)
  expect(times.filter((time) => time === 2 * MINUTE)).toHaveLength(180)
  expect(times.filter((time) => time === 3 * MINUTE)).toHaveLength(40)
  // The next minute has no room for more than those who were deferred to it, nor has the one after it.
  await pass(10_001)
  const token = await budget.take(others('awaited'))
  token?.spent(saying(0, RESET + 60))
  expect(Math.round((budget.deferUntil() - START) / 1_000)).toBe(180)
})

it('the learnt limit is scarce exactly while placements wait for the limit, not while a window is unknown', async () => {
  const budget = newBudget()
  for (let number = 0; number < 10; number++) await budget.take(placing('a', number, 0))
  expect([await budget.take(placing('a', 11, 0)), budget.isScarce()]).toEqual([null, false])
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

it('an answer that comes late says nothing of what is left by now', async () => {
  const budget = newBudget()
  const [early, late] = [await budget.take(others('awaited')), await budget.take(others('awaited'))]
  late?.spent(saying(3))
  early?.spent(saying(150))
  const taken = await Promise.all([1, 2, 3, 4].map(() => budget.take(others('cancel', 0))))
  expect(taken.filter((token) => token !== null)).toHaveLength(3)
})

it('a broker that states no limit is asked freely', async () => {
  const budget = newBudget()
  const first = await budget.take(others('awaited'))
  first?.spent({ status: 200, headers: {} })
  const taken = await Promise.all(Array.from({ length: 50 }, (_, at) => budget.take(placing('a', at, 0))))
  expect(taken).not.toContain(null)
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

/** A broker that counts by the minute, 20 to 80 ms away in each direction. */
function limitedBroker(limit: number) {
  let [until, used, refusals] = [0, 0, 0]
  const random = createRandom(1)
  const travel = () => new Promise((resolve) => setTimeout(resolve, 20 + (random() % 60)))
  return {
    refusals: () => refusals,
    async answer() {
      await travel()
      if (Date.now() >= until) [until, used] = [Date.now() + MINUTE, 0]
      used += 1
      if (used > limit) refusals += 1
      const said = saying(Math.max(0, limit - used), Math.ceil(until / 1_000), limit)
      await travel()
      return { ...said, status: used > limit ? 429 : 200 }
    },
  }
}

/** Places as fast as the budget lets it for three minutes; how many it has placed. */
function greedy(budget: RateBudget, broker: ReturnType<typeof limitedBroker>) {
  const done = { placed: 0 }
  const work = async (): Promise<void> => {
    while (Date.now() < START + 3 * MINUTE) {
      const token = await budget.take(placing(`a${done.placed % 50}`, done.placed))
      if (token === null) await new Promise((resolve) => setTimeout(resolve, 5_000))
      else {
        // The look at the chain.
        await new Promise((resolve) => setTimeout(resolve, 100))
        token.spent(await broker.answer())
        done.placed += 1
      }
    }
  }
  for (let worker = 0; worker < 40; worker++) void work()
  return done
}

it('three processes share the limit of a broker that counts 200 a minute evenly, and hardly a request is refused', async () => {
  const broker = limitedBroker(200)
  const shares = [1, 2, 3].map(() => greedy(newBudget(), broker))
  await pass(3 * MINUTE)
  const placed = shares.map((share) => share.placed - broker.refusals() / 3)
  for (const each of placed) expect(each).toBeGreaterThan(160)
  expect(Math.max(...placed) - Math.min(...placed)).toBeLessThan(40)
  expect(broker.refusals()).toBeLessThan(15)
})

it('a thousand orders at the opening go out in the order of their escrows, at its pace, and are deferred once at most', async () => {
  const broker = limitedBroker(200)
  const budget = newBudget()
  const placed: number[] = []
  let asks = 0
  // Two of each of 500 accounts.
  for (let number = 0; number < 1_000; number++) {
    void (async () => {
      for (;;) {
        asks += 1
        const token = await budget.take(placing(`a${number % 500}`, number))
        if (token !== null) {
          await new Promise((resolve) => setTimeout(resolve, 100))
          placed.push(number)
          token.spent(await broker.answer())
          return
        }
        const until = Math.ceil(budget.deferUntil() / 1_000) * 1_000
        await new Promise((resolve) => setTimeout(resolve, until - Date.now()))
      }
    })()
  }
  await pass(6 * MINUTE)
  expect(placed).toEqual(Array.from({ length: 1_000 }, (_, number) => number))
  expect(broker.refusals()).toBe(0)
  // Each of those that the first minute had no room for was deferred once.
  expect(asks).toBeLessThan(1_850)
})

it('placements that wait for both tokens are not overtaken by those that wait for one', async () => {
  const budget = await knowing(0)
  const { ask, granted } = asking(budget)
  await pass(55_000)
  void budget.takeBoth({ turn: { account: 'a', openedAt: 1 }, withinMs: 10_000 }).then((both) => {
    granted.push(both ? 'both' : 'neither')
  })
  for (let number = 2; number <= 9; number++) ask(`b${number}`, placing(`b${number}`, number))
  ask('later', placing('c', 10))
  await pass(5_001)
  expect(granted).toEqual(['both', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8', 'b9'])
})

it('a gateway that fails in the place of the broker does not set the limit free', async () => {
  const budget = await knowing(0)
  await pass(MINUTE)
  const token = await budget.take(others('awaited'))
  token?.spent({ status: 502, headers: {} })
  const { granted, ask } = asking(budget)
  for (let number = 0; number < 100; number++) ask(`p${number}`, placing('a', number))
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
