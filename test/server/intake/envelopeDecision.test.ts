import { describe, expect, test } from 'vitest'
import type { Envelope } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { decideEnvelope, type EscrowKnowledge, findIdentical } from '../../../src/server/intake/reception.js'
import { emptyOrderRecord, type OrderRecord } from '../../../src/server/store/orderRecords.js'
import { bytes32 } from '../../support/institution.js'

const OWN = bytes32('own')
const NONE: EscrowKnowledge = { state: 'NONE', commit: bytes32('zero') }
const OPEN: EscrowKnowledge = { state: 'OPEN', commit: OWN }

function envelope(commit: Hex): Envelope {
  return {
    epk: `0x02${commit.slice(2)}`,
    iv: `0x${'01'.repeat(12)}`,
    ct: commit,
    tag: `0x${'02'.repeat(16)}`,
  }
}

function record(commits: Hex[], more: Partial<OrderRecord> = {}): OrderRecord {
  const receivedAt = '2025-01-02T03:04:05.000Z'
  const candidates = commits.map((commit) => ({ commit, receivedAt, envelope: envelope(commit) }))
  return { ...emptyOrderRecord(bytes32('an order')), candidates, ...more }
}

const junk = (count: number): Hex[] => Array.from({ length: count }, (_, n) => bytes32(`junk ${n}`))
const [FIRST = OWN] = junk(1)

describe('an envelope that is offered', () => {
  test.each<[string, OrderRecord, Hex, EscrowKnowledge, ReturnType<typeof decideEnvelope>]>([
    ['the first, before its escrow', record([]), OWN, NONE, 'add'],
    ['the first, its escrow open', record([]), OWN, OPEN, 'add'],
    ['the first, not what the escrow wants', record([]), FIRST, OPEN, 'add'],
    ['the first, the chain down', record([]), OWN, 'unknown', 'add'],
    ['one more, its escrow not visible', record(junk(7)), OWN, NONE, 'add'],
    ['one too many, its escrow not visible', record(junk(8)), OWN, NONE, { kept: FIRST }],
    ['one more, the chain down', record(junk(7)), OWN, 'unknown', 'add'],
    ['one too many, the chain down', record(junk(8)), OWN, 'unknown', 'undecided'],
    ['the wanted one after eight others', record(junk(8)), OWN, OPEN, 'replace'],
    ['the wanted one after one other', record(junk(1)), OWN, OPEN, 'replace'],
    ['junk after the wanted one', record([OWN]), FIRST, OPEN, { kept: OWN }],
    [
      'junk among candidates that hold the wanted one',
      record([FIRST, OWN]),
      bytes32('x'),
      OPEN,
      { kept: OWN },
    ],
    ['junk after junk', record(junk(1)), bytes32('x'), OPEN, { kept: FIRST }],
    ['another one with the wanted ciphertext', record([OWN]), OWN, OPEN, { kept: OWN }],
    ['anything, once it is settled', record([OWN]), FIRST, { state: 'SETTLED', commit: OWN }, { kept: OWN }],
    ['the wanted one, too late', record(junk(1)), OWN, { state: 'REFUNDED', commit: OWN }, { kept: FIRST }],
  ])('%s', (_what, stored, offered, escrow, decision) => {
    expect(decideEnvelope(stored, offered, escrow)).toEqual(decision)
  })

  test('the commit that was once seen decides while the chain is down', () => {
    const known = { escrowCommit: OWN }
    expect(decideEnvelope(record([OWN], known), FIRST, 'unknown')).toEqual({ kept: OWN })
    expect(decideEnvelope(record(junk(8), known), OWN, 'unknown')).toBe('replace')
    expect(decideEnvelope(record(junk(1), known), bytes32('x'), 'unknown')).toEqual({ kept: FIRST })
  })
})

describe('the same envelope again', () => {
  test('is the one with the same four fields', () => {
    const stored = record([FIRST, OWN])
    expect(findIdentical(stored, envelope(OWN))?.commit).toBe(OWN)
    expect(findIdentical(undefined, envelope(OWN))).toBeUndefined()
    for (const field of ['epk', 'iv', 'ct', 'tag'] as const) {
      expect(findIdentical(stored, { ...envelope(OWN), [field]: '0x00' })).toBeUndefined()
    }
  })
})
