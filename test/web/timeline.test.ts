import { describe, expect, it } from 'vitest'
import type { TimelineEntry } from '../../src/client/index.js'
import { noticeCodes } from '../../src/enclave/notices.js'
import { timelineEntrySchema } from '../../src/protocol/api.js'
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
const run = { at, attempt: 2 }
const hash = `0x${'ab'.repeat(32)}` as const
const block = { at, txHash: hash, blockNumber: 7 }

const ENTRIES: readonly (readonly [TimelineEntry, string])[] = [
  [{ kind: 'received', at, commit: hash }, 'Server received the sealed order'],
  [{ kind: 'cancel-received', at }, 'Server received your cancellation'],
  [{ kind: 'triggered', ...run, reason: 'retry' }, 'Enclave started run 2'],
  [{ kind: 'outcome', ...run, outcome: 'queued' }, 'Run 2 ended: waiting for the market'],
  [
    { kind: 'outcome', ...run, outcome: 'queued', waitsFor: 'relay-quota-exhausted' },
    'Run 2 ended: your gas quota for today is used up; continues at midnight UTC',
  ],
  [
    { kind: 'relayed', at, digest: hash, status: 'pending' },
    'Relay received the enclave’s decision: pending',
  ],
  [
    { kind: 'transaction', at, digest: hash, txHash: hash, status: 'submitted', blockNumber: null },
    'Transaction 0xabab…abab: submitted',
  ],
  [{ kind: 'opened', ...block, event: 'OrderOpened' }, 'Escrow opened on the chain'],
  [{ kind: 'settled', ...block, event: 'OrderSettled' }, 'Settled on the chain'],
  [{ kind: 'refunded', ...block, event: 'OrderRefunded' }, 'Refunded on the chain'],
  [{ kind: 'reclaimed', ...block, event: 'OrderRefunded' }, 'Reclaimed from the escrow'],
]

describe('an order’s timeline', () => {
  it.each(ENTRIES)('%j', (entry, words) => {
    expect(timelineEntrySchema.safeParse(entry).success).toBe(true)
    expect(entryWords(entry)).toBe(words)
  })
})

describe('an order’s state', () => {
  const trigger = (outcome: 'queued' | 'placed' | 'failed' | 'rejected' | null) => ({
    ...{ attempt: 1, reason: 'received' as const, startedAt: at, outcome },
    finishedAt: outcome === null ? null : at,
  })
  const noGas = { ...trigger('queued'), waitsFor: 'relay-quota-exhausted' as const }

  it.each([
    [{ state: 'SETTLED' as const, receivedAt: null, triggers: [] }, 'Settled'],
    [{ state: 'REFUNDED' as const, receivedAt: at, triggers: [] }, 'Refunded'],
    [{ state: 'OPEN' as const, receivedAt: null, triggers: [] }, 'Not submitted'],
    [{ state: 'OPEN' as const, receivedAt: null, triggers: [trigger('rejected')] }, 'Not submitted'],
    [{ state: 'OPEN' as const, receivedAt: null, triggers: [trigger('placed')] }, 'At the broker'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [] }, 'In progress'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [trigger(null)] }, 'In progress'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [trigger('queued')] }, 'Waiting for the market'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [trigger('placed')] }, 'At the broker'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [noGas] }, 'Waiting for tomorrow'],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [noGas], cancelReceivedAt: at }, 'Cancelling'],
    [{ state: 'SETTLED' as const, receivedAt: at, triggers: [], cancelReceivedAt: at }, 'Settled'],
    [
      {
        state: 'NONE' as const,
        receivedAt: at,
        triggers: [],
        opening: { status: 'submitted' as const, error: null },
      },
      'Opening',
    ],
    [
      {
        state: 'NONE' as const,
        receivedAt: at,
        triggers: [],
        opening: { status: 'failed' as const, error: null },
      },
      'Not opened',
    ],
    [{ state: 'OPEN' as const, receivedAt: at, triggers: [trigger('queued'), trigger(null)] }, 'In progress'],
  ])('%j', (status, words) => {
    expect(stateWords(status, null)).toBe(words)
    expect(orderWords(status, new Error('since then'), null)).toBe(words)
  })

  it.each([
    ['over-limit', 'Refused'],
    ['deadline-passed', 'Expired'],
    ['cancelled', 'Cancelled'],
    ['not-placed', 'Refunded'],
  ])('refunded with the notice %s', (code, words) => {
    expect(stateWords({ state: 'REFUNDED', receivedAt: at, triggers: [] }, { code })).toBe(words)
  })

  it('names only notices that the enclave has', () => {
    const named = noticeCodes.filter(
      (code) => stateWords({ state: 'REFUNDED', receivedAt: at, triggers: [] }, { code }) !== 'Refused',
    )
    expect(named).toHaveLength(6)
  })

  it('without an answer is the failure, but for an order that is not known yet', () => {
    expect(orderWords(null, null, null)).toBe('Sealed')
    expect(orderWords(null, serverError(404, 'order-not-found'), null)).toBe('Sealed')
    expect(orderWords(null, serverError(503, 'chain-unavailable'), null)).toBe('Some title')
  })
})

describe('the colour of an order’s state', () => {
  const open: Parameters<typeof stateWords>[0] = { state: 'OPEN', receivedAt: at, triggers: [] }

  it('tells waiting, a warning and a failure apart, and is good only for a settled order', () => {
    expect(orderTone(open, null, null)).toBe('wait')
    expect(orderTone({ ...open, receivedAt: null }, null, null)).toBe('warn')
    expect(orderTone({ ...open, state: 'SETTLED' }, null, null)).toBe('good')
    expect(orderTone({ ...open, state: 'REFUNDED' }, null, { code: 'over-limit' })).toBe('bad')
    expect(orderTone({ ...open, state: 'REFUNDED' }, null, { code: 'expired' })).toBe('warn')
    expect(orderTone({ ...open, state: 'REFUNDED' }, null, null)).toBe('warn')
    expect(orderTone({ ...open, state: 'REFUNDED' }, null, { code: 'cancelled' })).toBe('plain')
  })

  it('without a state is a warning once the server has failed', () => {
    expect(orderTone(null, null, null)).toBe('wait')
    expect(orderTone(null, serverError(404, 'order-not-found'), null)).toBe('wait')
    expect(orderTone(null, serverError(503, 'chain-unavailable'), null)).toBe('warn')
  })
})

describe('an order that waits', () => {
  const now = new Date(2030, 0, 2, 15, 0, 0)
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString()
  const ended = { attempt: 1, reason: 'received', startedAt: at, finishedAt: at, outcome: 'queued' } as const
  const waiting: Parameters<typeof waitingWords>[0] = {
    ...{ state: 'OPEN', deadline: later(60), triggers: [ended], nextTriggerAt: later(5) },
  }

  it('says until when it is good, and when it is tried next', () => {
    expect(waitingWords(waiting, now)).toBe('Good until 16:00:00. Next attempt at 15:05:00.')
    expect(waitingWords({ ...waiting, nextTriggerAt: null }, now)).toBe('Good until 16:00:00.')
  })

  it('says nothing while a run is under way, once it is cancelled, and once it has ended', () => {
    const running = { ...ended, attempt: 2, finishedAt: null, outcome: null }
    expect(waitingWords({ ...waiting, triggers: [] }, now)).toBeNull()
    expect(waitingWords({ ...waiting, triggers: [ended, running] }, now)).toBeNull()
    expect(waitingWords({ ...waiting, cancelReceivedAt: at }, now)).toBeNull()
    expect(waitingWords({ ...waiting, state: 'REFUNDED' }, now)).toBeNull()
  })
})

describe('a notice', () => {
  it('is a sentence with one full stop', () => {
    expect(noticeWords({ message: 'Your wallet is not verified.' })).toBe('Your wallet is not verified.')
    expect(noticeWords({ message: 'Your wallet is not verified' })).toBe('Your wallet is not verified.')
  })
})

const bought = {
  side: 'BUY',
  symbol: 'AAPL',
  shares: 4_721_712_345n,
  price: 211_786_543n,
  value: 1_000_000_000n,
} as const

it.each([
  ['a buy', bought, 'Bought 4.7217 AAPL at 211.78, 1,000.00 USDC'],
  ['a sale', { ...bought, side: 'SELL' } as const, 'Sold 4.7217 AAPL at 211.78, 1,000.00 USDC'],
  ['a withdrawal', { ...bought, side: 'WITHDRAW' } as const, null],
  ['a deposit', { ...bought, side: 'DEPOSIT' } as const, null],
  ['an order without a fill', { ...bought, shares: null, price: null }, null],
  ['an order of unknown content', { ...bought, side: null, symbol: null }, null],
])('the fill of %s', (_what, summary, words) => expect(fillWords(summary)).toBe(words))
