import { describe, expect, it } from 'vitest'
import type { OrderStatus } from '../../src/client/index.js'
import { noticeCodes } from '../../src/enclave/notices.js'
import {
  entryWords,
  fillWords,
  noticeWords,
  orderTone,
  orderWords,
  stateWords,
  waitingWords,
} from '../../web/words/timeline.js'
import { serverError } from './support/serverError.js'

const at = '2026-03-02T10:00:00Z'
type Stated = Parameters<typeof stateWords>[0]
const open: Stated = { state: 'OPEN', receivedAt: at, triggers: [] }
const refunded: Stated = { ...open, state: 'REFUNDED' }
const ran = (outcome: OrderStatus['triggers'][number]['outcome']) => ({
  ...{ attempt: 1, reason: 'received' as const, startedAt: at, outcome },
  finishedAt: outcome === null ? null : at,
})
const noGas = { ...ran('queued'), waitsFor: 'relay-quota-exhausted' as const }

it('the timeline says what a run of the enclave waits for', () => {
  const outcome = { kind: 'outcome', at, attempt: 2, outcome: 'queued' } as const
  expect(entryWords(outcome)).toBe('Run 2 ended: waiting for the market')
  expect(entryWords({ ...outcome, waitsFor: 'relay-quota-exhausted' })).toBe(
    'Run 2 ended: your gas quota for today is used up; continues at midnight UTC',
  )
})

describe('an order’s state', () => {
  it.each<[Partial<Stated>, string]>([
    [{ state: 'SETTLED', cancelReceivedAt: at }, 'Settled'],
    [{ state: 'REFUNDED' }, 'Refunded'],
    [{ receivedAt: null }, 'Not submitted'],
    [{ receivedAt: null, triggers: [ran('rejected')] }, 'Not submitted'],
    [{ receivedAt: null, triggers: [ran('placed')] }, 'At the broker'],
    [{}, 'In progress'],
    [{ triggers: [ran(null)] }, 'In progress'],
    [{ triggers: [ran('queued')] }, 'Waiting for the market'],
    [{ triggers: [ran('queued'), ran(null)] }, 'In progress'],
    [{ triggers: [ran('failed')] }, 'Trying again'],
    [{ triggers: [noGas] }, 'Waiting for tomorrow'],
    [{ triggers: [noGas], cancelReceivedAt: at }, 'Cancelling'],
    [{ state: 'NONE', opening: { status: 'submitted', error: null } }, 'Opening'],
    [{ state: 'NONE', opening: { status: 'failed', error: null } }, 'Not opened'],
  ])('%j', (change, words) => {
    expect(orderWords({ ...open, ...change }, new Error('since then'), null)).toBe(words)
  })

  it.each([
    ['over-limit', 'Refused', 'bad'],
    ['deadline-passed', 'Expired', 'warn'],
    ['cancelled', 'Cancelled', 'plain'],
    ['not-placed', 'Refunded', 'warn'],
  ])('refunded with the notice %s', (code, words, tone) => {
    expect([stateWords(refunded, { code }), orderTone(refunded, null, { code })]).toEqual([words, tone])
  })

  it('names only notices that the enclave has', () => {
    const named = noticeCodes.filter((code) => stateWords(refunded, { code }) !== 'Refused')
    expect(named).toHaveLength(6)
  })

  it('without an answer is the failure, but for an order that is not known yet', () => {
    const [unknown, failed] = [serverError(404, 'order-not-found'), serverError(503, 'chain-unavailable')]
    for (const error of [null, unknown]) {
      expect([orderWords(null, error, null), orderTone(null, error, null)]).toEqual(['Sealed', 'wait'])
    }
    expect([orderWords(null, failed, null), orderTone(null, failed, null)]).toEqual(['Some title', 'warn'])
  })

  it('is good only once it is settled', () => {
    const tones = [open, { ...open, receivedAt: null }, { ...open, state: 'SETTLED' as const }]
    expect(tones.map((status) => orderTone(status, null, null))).toEqual(['wait', 'warn', 'good'])
  })
})

describe('an order that waits', () => {
  const now = new Date(2030, 0, 2, 15, 0, 0)
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString()
  const waiting: Parameters<typeof waitingWords>[0] = {
    ...{ state: 'OPEN', deadline: later(60), triggers: [ran('queued')], nextTriggerAt: later(5) },
  }

  it('says until when it is good, and when it is tried next', () => {
    expect(waitingWords(waiting, now)).toBe('Good until 16:00:00. Next attempt at 15:05:00.')
    expect(waitingWords({ ...waiting, nextTriggerAt: null }, now)).toBe('Good until 16:00:00.')
    expect(waitingWords({ ...waiting, triggers: [ran('failed')] }, now)).toBe(
      'The enclave did not answer, or could not carry it out: the server tries again at 15:05:00, and you need do nothing.',
    )
  })

  it('says whom to tell once many runs in a row have failed', () => {
    const failed = Array.from({ length: 7 }, () => ran('failed'))
    expect(waitingWords({ ...waiting, triggers: [ran('queued'), ...failed] }, now)).toBe(
      'The enclave could not carry it out 7 times: the server tries again at 15:05:00. If that goes on, tell the platform’s operator the order’s number: its owner can end it.',
    )
    const mended = [...failed, ran('queued'), ran('failed')]
    expect(waitingWords({ ...waiting, triggers: mended }, now)).toContain('you need do nothing')
  })

  it('says nothing while a run is under way, once it is cancelled, and once it has ended', () => {
    expect(waitingWords({ ...waiting, triggers: [ran('queued'), ran(null)] }, now)).toBeNull()
    expect(waitingWords({ ...waiting, cancelReceivedAt: at }, now)).toBeNull()
    expect(waitingWords({ ...waiting, state: 'REFUNDED' }, now)).toBeNull()
  })
})

it('a notice is a sentence with one full stop', () => {
  for (const message of ['It is closed.', 'It is closed'])
    expect(noticeWords({ message })).toBe('It is closed.')
})

it('the fill of a trade has its shares, price and value', () => {
  const bought = { side: 'BUY', symbol: 'AAPL', shares: 4_721_712_345n } as const
  const fill = { ...bought, price: 211_786_543n, value: 1_000_000_000n }
  expect(fillWords(fill)).toBe('Bought 4.7217 AAPL at 211.78, 1,000.00 USDC')
  expect(fillWords({ ...fill, side: 'WITHDRAW' })).toBeNull()
  expect(fillWords({ ...fill, shares: null, price: null })).toBeNull()
})
