import { describe, expect, it } from 'vitest'
import type { OrderStatus } from '../../src/client/index.js'
import { aheadWords, type NoticeCode, noticeCodes, noticeOf } from '../../src/enclave/notices.js'
import { openNotice } from '../../src/protocol/notice.js'
import {
  entryWords,
  orderTone,
  orderWords,
  stateWords,
  turnWords,
  waitingWords,
} from '../../web/words/timeline.js'
import { USER_KEY, USER_PUBKEY } from '../enclave/support/parties.js'
import { serverError } from './support/serverError.js'

const at = '2026-03-02T10:00:00Z'
const ORDER_ID = `0x${'5a'.repeat(32)}` as const
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
  expect(entryWords(outcome)).toBe('Run 2 ended: waiting, the enclave tries again by itself')
  const noQuota = entryWords({ ...outcome, waitsFor: 'relay-quota-exhausted' })
  expect(noQuota).toMatch(/^Run 2 ended: your gas quota for today is used up/)
})

describe('an order’s state', () => {
  it.each<[Partial<Stated>, string]>([
    [{ state: 'SETTLED', cancelReceivedAt: at }, 'Settled'],
    [{ state: 'REFUNDED' }, 'Refunded'],
    [{ receivedAt: null, triggers: [ran('rejected')] }, 'Not submitted'],
    [{ receivedAt: null, triggers: [ran('placed')] }, 'At the broker'],
    [{}, 'In progress'],
    [{ triggers: [ran('queued')] }, 'Waiting'],
    [{ triggers: [{ ...ran('queued'), waitsFor: 'market-closed' }] }, 'Waiting for the market'],
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
    expect(noticeCodes.filter((code) => stateWords(refunded, { code }) !== 'Refused')).toHaveLength(6)
  })

  it('without an answer is the failure, but for an order that is not known yet', () => {
    const [unknown, failed] = [serverError(404, 'order-not-found'), serverError(503, 'chain-unavailable')]
    for (const error of [null, unknown]) {
      expect([orderWords(null, error, null), orderTone(null, error, null)]).toEqual(['Sealed', 'wait'])
    }
    expect([orderWords(null, failed, null), orderTone(null, failed, null)]).toEqual(['Some title', 'warn'])
  })
})

describe('an order that waits', () => {
  const now = new Date(2030, 0, 2, 15, 0, 0)
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString()
  const waiting: Parameters<typeof waitingWords>[0] = {
    ...{ state: 'OPEN', deadline: later(60), triggers: [ran('queued')], nextTriggerAt: later(5) },
  }
  const failed = Array.from({ length: 7 }, () => ran('failed'))

  it.each<[Partial<typeof waiting>, string | RegExp]>([
    [{}, 'Good until 16:00:00. Next attempt at 15:05:00.'],
    [{ nextTriggerAt: null }, 'Good until 16:00:00.'],
    [{ triggers: [ran('failed')] }, /did not answer.* tries again at 15:05:00, and you need do nothing\.$/],
    [
      { triggers: [ran('queued'), ...failed] },
      /could not carry it out 7 times.* tell the platform’s operator/,
    ],
    [{ triggers: [...failed, ran('queued'), ran('failed')] }, /you need do nothing/],
  ])('says until when it is good, when it is tried next, and whom to tell: %o', (change, words) => {
    expect(waitingWords({ ...waiting, ...change }, now)).toMatch(words)
  })

  it('for its turn says what for, and how many are ahead, until it ends', async () => {
    const status = { ...open, triggers: [{ ...ran('queued'), waitsFor: 'broker-turn' as const }] }
    const told = async (code: NoticeCode, detail?: string) => {
      const notice = await openNotice(await noticeOf(ORDER_ID, code, USER_PUBKEY, detail), USER_KEY, ORDER_ID)
      return [stateWords(status, notice), turnWords(status, notice), turnWords(refunded, notice)]
    }
    const turn = (words: RegExp) => ['Waiting for its turn', expect.stringMatching(words), null]
    expect(await told('waits-for-opposite')).toEqual(turn(/an opposite order of the same symbol is open/))
    expect(await told('waits-for-rate', aheadWords(3))).toEqual(turn(/ 3 others are ahead of it\.$/))
    expect(await told('over-limit')).toEqual(['Waiting for its turn', null, null])
  })

  it('says nothing while a run is under way, once it is cancelled, and once it has ended', () => {
    const underWay = { triggers: [ran('queued'), ran(null)] }
    for (const change of [underWay, { cancelReceivedAt: at }, { state: 'REFUNDED' as const }])
      expect(waitingWords({ ...waiting, ...change }, now)).toBeNull()
  })
})
