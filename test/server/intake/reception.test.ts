import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import type { EscrowKnowledge } from '../../../src/server/intake/reception.js'
import { type PostedEnvelope, type Reception, receive } from '../../../src/server/intake/reception.js'
import { type Candidate, emptyOrderRecord, type OrderRecord } from '../../../src/server/store/orderRecords.js'
import { bytes32 } from '../../support/institution.js'

const ORDER = bytes32('an order')
const OWN = bytes32('own')
const OTHER = bytes32('other')
const OPEN: EscrowKnowledge = { state: 'OPEN', commit: OWN }
const NONE: EscrowKnowledge = { state: 'NONE', commit: bytes32('zero') }

function candidate(commit: Hex, receivedAt = '2025-01-02T03:04:05.000Z'): Candidate {
  const envelope = { epk: `0x02${commit.slice(2)}`, iv: '0x01', ct: commit, tag: '0x02' } as const
  return { commit, receivedAt, envelope }
}

function record(commits: Hex[], more: Partial<OrderRecord> = {}): OrderRecord {
  return { ...emptyOrderRecord(ORDER), candidates: commits.map((commit) => candidate(commit)), ...more }
}

const offered = candidate(OWN, '2025-06-07T08:09:10.000Z')
const eight = record(Array.from({ length: 8 }, (_, n) => bytes32(`junk ${n}`)))
const received = { orderId: ORDER, result: 'received', commit: OWN, receivedAt: offered.receivedAt } as const
const already = (commit: Hex) => {
  return {
    orderId: ORDER,
    result: 'already-received',
    commit,
    receivedAt: candidate(commit).receivedAt,
  } as const
}

describe('a posted envelope', () => {
  test.each<[string, Pick<PostedEnvelope, 'current' | 'escrow' | 'refusal'>, Reception['answer'], Hex[]?]>([
    ['of a new order', { current: undefined, escrow: undefined, refusal: undefined }, received, [OWN]],
    [
      'of a new order, open, above the limit',
      { current: undefined, escrow: OPEN, refusal: 'full' },
      received,
      [OWN],
    ],
    [
      'of a new order, above the limit',
      { current: undefined, escrow: undefined, refusal: 'full' },
      'ask-chain',
    ],
    ['the same, not open on chain', { current: undefined, escrow: NONE, refusal: 'full' }, 'full'],
    ['the same, the chain down', { current: undefined, escrow: 'unknown', refusal: 'full' }, 'full'],
    ['again', { current: record([OTHER, OWN]), escrow: undefined, refusal: 'full' }, already(OWN)],
    ['after another', { current: record([OTHER]), escrow: undefined, refusal: undefined }, 'ask-chain'],
    ['after another, open', { current: record([OTHER]), escrow: OPEN, refusal: 'full' }, received, [OWN]],
    [
      'of a new order, too many of its client',
      { current: undefined, escrow: NONE, refusal: 'client-full' },
      'client-full',
    ],
    [
      'after another, not open',
      { current: record([OTHER]), escrow: NONE, refusal: undefined },
      received,
      [OTHER, OWN],
    ],
    [
      'after another, too many of its client',
      { current: record([OTHER]), escrow: NONE, refusal: 'client-full' },
      'client-full',
    ],
    [
      'after another that a run has had',
      { current: record([OTHER], { escrowCommit: OTHER }), escrow: undefined, refusal: undefined },
      already(OTHER),
    ],
    [
      'after eight others, the chain down',
      { current: eight, escrow: 'unknown', refusal: undefined },
      'undecided',
    ],
  ])('%s', (_what, known, answer, stored) => {
    const reception = receive({ orderId: ORDER, offered, ...known })
    expect(reception.answer).toEqual(answer)
    if (stored === undefined) expect(reception.record).toBe(known.current)
    else expect(reception.record?.candidates.map(({ commit }) => commit)).toEqual(stored)
  })
})
