import { expect, test, vi } from 'vitest'
import { createLimitedFetch } from '../../src/broker/limitedFetch.js'

const START = Date.parse('2027-01-05T14:00:00Z')
const DATA = 'https://data.example/v2/stocks/snapshots'
const TRADING = 'https://trading.example/v2/clock'

/** A broker whose answers say what is left until 30 s after the start. */
function setUp(remaining: string, reset = String(START / 1_000 + 30)) {
  let time = START
  const headers = { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset }
  const send = vi.fn(async () => new Response('{}', { headers }))
  return {
    send,
    limited: createLimitedFetch(send, () => time),
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('while something is left, everything is sent', async () => {
  const { limited, send } = setUp('1')
  for (let time = 0; time < 3; time++) expect((await limited(DATA)).status).toBe(200)
  expect(send).toHaveBeenCalledTimes(3)
})

test('when nothing is left, nothing is sent to that host until the reset, and the answer says when that is', async () => {
  const { limited, send, pass } = setUp('0')
  expect((await limited(DATA)).status).toBe(200)
  pass(29_999)
  const refused = await limited(new Request(DATA))
  expect([refused.status, refused.headers.get('x-ratelimit-reset')]).toEqual([
    429,
    String(START / 1_000 + 30),
  ])
  expect(send).toHaveBeenCalledTimes(1)
  expect((await limited(TRADING)).status).toBe(200)
  pass(1)
  expect((await limited(new URL(DATA))).status).toBe(200)
  expect(send).toHaveBeenCalledTimes(3)
})

test('nobody is believed who asks for more than a minute', async () => {
  const { limited, pass } = setUp('0', '99999999999')
  await limited(DATA)
  pass(59_999)
  expect((await limited(DATA)).status).toBe(429)
  pass(1)
  expect((await limited(DATA)).status).toBe(200)
})

test('a clock that is set back meanwhile makes nobody wait longer', async () => {
  const { limited, pass } = setUp('0')
  await limited(DATA)
  pass(-3_600_000)
  expect((await limited(DATA)).status).toBe(200)
})

test.each(['', 'soon', '-1'])('a reset that is no time is no limit: %j', async (reset) => {
  const { limited, send } = setUp('0', reset)
  await limited(DATA)
  expect((await limited(DATA)).status).toBe(200)
  expect(send).toHaveBeenCalledTimes(2)
})
