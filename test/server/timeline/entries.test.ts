import { describe, expect, test } from 'vitest'
import type { TriggerRecord } from '../../../src/protocol/api.js'
import type { Receipt } from '../../../src/protocol/relayReceipt.js'
import { type TimelineParts, timelineEntries } from '../../../src/server/timeline/entries.js'
import { NO_HISTORY, type OrderEnd } from '../../../src/server/timeline/orderHistory.js'
import { bytes32 } from '../../support/institution.js'

const DIGEST = bytes32('digest')
const ESCROW = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
/** The server's clock, in seconds and milliseconds after a full minute. */
const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1, 12) + seconds * 1_000).toISOString()
const chainTime = (seconds: number) => Date.parse(at(seconds)) / 1_000

function run(attempt: number, from: number, to: number | null, changes: Partial<TriggerRecord> = {}) {
  const finishedAt = to === null ? null : at(to)
  const outcome = to === null ? null : 'failed'
  return { attempt, reason: 'received', startedAt: at(from), finishedAt, outcome, ...changes } as const
}

function receipt(changes: Partial<Receipt> = {}): Receipt {
  return {
    digest: DIGEST,
    primaryType: 'OrderSettlement',
    target: ESCROW,
    status: 'confirmed',
    txHash: bytes32('settling'),
    blockNumber: 8,
    gasUsed: 1n,
    createdAt: at(4.5),
    updatedAt: at(6),
    error: null,
    ...changes,
  }
}

const opened = { txHash: bytes32('opening'), blockNumber: 5, time: chainTime(1), commit: bytes32('commit') }

function end(seconds: number, changes: Partial<OrderEnd> = {}): OrderEnd {
  const place = { txHash: bytes32('settling'), blockNumber: 8, time: chainTime(seconds) }
  return { kind: 'settled', digest: DIGEST, ...place, ...changes }
}

const PARTS: TimelineParts = {
  received: { commit: bytes32('commit'), receivedAt: at(2) },
  cancelReceivedAt: undefined,
  opening: undefined,
  triggers: [run(1, 3, 7, { outcome: 'settled' })],
  receipts: [receipt()],
  history: { opened, ended: end(5) },
}
const kindsOf = (changes: Partial<TimelineParts>) =>
  timelineEntries({ ...PARTS, ...changes }).map(({ kind }) => kind)
const RUN = ['triggered', 'outcome']
const WHOLE = ['opened', 'received', 'triggered', 'relayed', 'transaction', 'settled', 'outcome']

describe('the list', () => {
  test('is in causal order though the block’s clock is behind, or ahead by days', () => {
    expect(kindsOf({ history: { opened, ended: end(4) } })).toEqual(WHOLE)
    expect(kindsOf({ history: { opened, ended: end(0) } })).toEqual(WHOLE)
    const ahead = { ...opened, time: chainTime(40 * 86_400) }
    const received = ['received', 'opened', ...WHOLE.slice(2)]
    expect(kindsOf({ history: { opened: ahead, ended: end(41 * 86_400) } })).toEqual(received)
  })

  test('keeps runs in their order, also one that was closed when the next one began', () => {
    const triggers = [run(1, 3, 4), run(2, 4, 9), run(3, 10, null)]
    const kinds = kindsOf({ triggers, receipts: [], history: { opened, ended: null } })
    expect(kinds.slice(2)).toEqual([...RUN, ...RUN, 'triggered'])
  })

  test('has a reclaim before the run that learns of it, without a transaction of the relay', () => {
    const triggers = [run(1, 3, 4), run(2, 9, 9.5, { reason: 'reclaimed' })]
    const ended = end(40 * 86_400, { kind: 'reclaimed', digest: null })
    const kinds = kindsOf({ triggers, receipts: [], history: { opened, ended } })
    expect(kinds.slice(2)).toEqual([...RUN, 'reclaimed', ...RUN])
  })

  test('has the cancel at its time, never before the escrow was opened', () => {
    expect(kindsOf({ cancelReceivedAt: at(4) })).toEqual(WHOLE.toSpliced(3, 0, 'cancel-received'))
    const early = kindsOf({ received: null, cancelReceivedAt: at(0.5) })
    expect(early.slice(0, 2)).toEqual(['opened', 'cancel-received'])
  })

  test('has the relay’s opening after the envelope and before the escrow, whatever the clocks say', () => {
    const opening = receipt({ digest: bytes32('signed'), primaryType: 'BuyOpening', createdAt: at(2.5) })
    const kinds = ['received', 'opening', ...WHOLE.filter((kind) => kind !== 'received')]
    expect(kindsOf({ opening })).toEqual(kinds)
    const slow = { ...opened, time: chainTime(-20) }
    expect(kindsOf({ opening, history: { opened: slow, ended: end(5) } })).toEqual(kinds)
    const refused = { ...opening, status: 'failed', error: { name: 'OpeningExpired', args: {} } } as const
    const unopened = { triggers: [], receipts: [], history: NO_HISTORY }
    const last = (one: Receipt) => timelineEntries({ ...PARTS, ...unopened, opening: one }).at(-1)
    expect(last(refused)).toEqual({
      ...{ kind: 'opening', at: at(2.5), digest: bytes32('signed'), status: 'failed' },
      error: { name: 'OpeningExpired', args: {} },
    })
    // The chain decides: a reorganization has taken it back, or the order is open although the receipt is behind.
    expect(last(opening)).toMatchObject({ status: 'submitted', error: null })
    const entries = timelineEntries({ ...PARTS, opening: refused })
    expect(entries.find(({ kind }) => kind === 'opening')).toMatchObject({ status: 'confirmed', error: null })
  })
})

describe('relayed transactions', () => {
  const relayed = (changes: Partial<Receipt>, ended: OrderEnd | null = null) =>
    timelineEntries({
      ...{ ...PARTS, received: null, triggers: [], receipts: [receipt(changes)] },
      history: { opened: null, ended },
    })

  test('shows no transaction before one is sent', () => {
    expect(relayed({ status: 'pending' })).toMatchObject([{ kind: 'relayed', status: 'pending' }])
  })

  test('shows one that reverted in its block, and one that was given up before', () => {
    expect(relayed({ status: 'failed' })).toMatchObject([
      { kind: 'relayed', status: 'failed' },
      { kind: 'transaction', at: at(6), status: 'failed', blockNumber: 8 },
    ])
    expect(relayed({ status: 'failed', txHash: null, blockNumber: null })).toMatchObject([
      { kind: 'relayed', status: 'failed' },
    ])
  })

  test('is not confirmed on the receipt’s word, but on the chain’s, whatever the receipt says', () => {
    expect(relayed({ status: 'confirmed' })).toMatchObject([
      { kind: 'relayed', status: 'submitted' },
      { kind: 'transaction', status: 'submitted', blockNumber: null },
    ])
    expect(relayed({ status: 'submitted', txHash: bytes32('another') }, end(5))).toMatchObject([
      { kind: 'relayed', status: 'confirmed' },
      { kind: 'transaction', txHash: bytes32('settling'), status: 'confirmed' },
      { kind: 'settled' },
    ])
  })
})
