import { expect, test } from 'vitest'
import { decideEnvelope, type EscrowKnowledge } from '../../../src/server/intake/reception.js'
import { emptyOrderRecord } from '../../../src/server/store/orderRecords.js'
import { bytes32 } from '../../support/institution.js'

const OWN = bytes32('own')
const junk = (count: number) => Array.from({ length: count }, (_, n) => bytes32(`junk ${n}`))

// orderJunk.test.ts and the model have what orders that are open, or not yet, do with envelopes.
test.each<[string, number, EscrowKnowledge, ReturnType<typeof decideEnvelope>]>([
  [
    'does not replace junk once its order was refunded',
    1,
    { state: 'REFUNDED', commit: OWN },
    { kept: bytes32('junk 0') },
  ],
  ['replaces junk while the chain is down and its commit was seen before', 8, 'unknown', 'replace'],
])('the wanted envelope %s', (_what, count, escrow, decision) => {
  const candidates = junk(count).map((commit) => ({
    commit,
    receivedAt: '2025-01-02T03:04:05.000Z',
    envelope: { epk: '0x02', iv: '0x01', ct: commit, tag: '0x02' } as const,
  }))
  const record = { ...emptyOrderRecord(bytes32('an order')), candidates, escrowCommit: OWN }
  expect(decideEnvelope(record, OWN, escrow)).toEqual(decision)
})
