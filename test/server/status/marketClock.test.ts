import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createMarketClockView } from '../../../src/server/status/market.js'
import { brokerOf, SERVER_ACCOUNT, startStandIn } from '../../support/brokerStandIn.js'
import { eventually } from '../../support/eventually.js'

const OPENS = '2027-01-05T14:30:00Z'
const CLOSES = '2027-01-05T21:00:00Z'

afterEach(() => {
  vi.restoreAllMocks()
})

async function setUp() {
  const start = Date.parse('2027-01-05T14:00:00Z')
  let time = start
  const standIn = await startStandIn({ now: () => new Date(time) })
  onTestFinished(() => standIn.stop())
  standIn.control.clock({ open: false, nextOpen: OPENS, nextClose: CLOSES })
  vi.spyOn(Date, 'now').mockImplementation(() => time)
  let asleepMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => time - start - asleepMs)
  const view = createMarketClockView({
    broker: brokerOf(standIn.url, SERVER_ACCOUNT),
    maxAgeMs: 600_000,
  })
  return {
    view,
    control: standIn.control,
    requests: () => standIn.control.requests().length,
    set: (iso: string) => {
      time = Date.parse(iso)
    },
    /** The monotonic clock stands still. */
    sleepUntil: (iso: string) => {
      asleepMs += Date.parse(iso) - time
      time = Date.parse(iso)
    },
  }
}

test('is asked for once by many, and again after a while, without a wait for callers', async () => {
  const { view, requests, set, control } = await setUp()
  await Promise.all([view(), view()])
  set('2027-01-05T14:09:59.999Z')
  await view()
  expect(requests()).toBe(1)
  set('2027-01-05T14:10:00Z')
  control.clock({ open: true })
  expect((await view()).isOpen).toBe(false)
  await eventually('the next answer', async () => (await view()).isOpen)
  expect(requests()).toBe(2)
})

test('is not kept past an opening that the machine slept over', async () => {
  const { view, requests, sleepUntil, control } = await setUp()
  expect((await view()).isOpen).toBe(false)
  control.clock({ open: true })
  sleepUntil('2027-01-05T14:30:00Z')
  expect((await view()).isOpen).toBe(true)
  expect(requests()).toBe(2)
})

test('is not kept past an opening', async () => {
  const { view, requests, set, control } = await setUp()
  set('2027-01-05T14:29:58Z')
  expect((await view()).isOpen).toBe(false)
  control.clock({ open: true })
  set('2027-01-05T14:29:59.999Z')
  expect((await view()).isOpen).toBe(false)
  set(OPENS)
  expect((await view()).isOpen).toBe(true)
  expect(requests()).toBe(2)
})

test('is known until the next opening while the broker fails, and not after it', async () => {
  const { view, set, control } = await setUp()
  await view()
  control.fault({ respond: { status: 503, body: {} }, times: 1_000 })
  set('2027-01-05T14:29:59.999Z')
  expect((await view()).isOpen).toBe(false)
  set(OPENS)
  await expect(view()).rejects.toMatchObject({ name: 'MarketUnavailableError' })
  set('2027-01-05T14:30:10Z')
  await expect(view()).rejects.toMatchObject({ name: 'MarketUnavailableError', retryAfterSeconds: 2 })
})

test('says when to come back after a rate limit', async () => {
  const { view, control } = await setUp()
  const resetAt = Date.parse('2027-01-05T14:00:41Z') / 1_000
  control.fault({
    respond: {
      status: 429,
      body: { message: 'too many requests.' },
      headers: { 'x-ratelimit-reset': String(resetAt) },
    },
  })
  await expect(view()).rejects.toMatchObject({ name: 'MarketUnavailableError', retryAfterSeconds: 41 })
})

test('never asks for more than a minute’s patience', async () => {
  const { view, control } = await setUp()
  control.fault({
    respond: { status: 429, body: {}, headers: { 'x-ratelimit-reset': '99999999999' } },
  })
  await expect(view()).rejects.toMatchObject({ retryAfterSeconds: 60 })
})
