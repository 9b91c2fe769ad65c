import { expect, test } from 'vitest'
import { type EscrowKnowledge, receive } from '../../../src/server/intake/reception.js'
import { emptyOrderRecord } from '../../../src/server/store/orderRecords.js'
import { bytes32 } from '../../support/institution.js'

const OWN = bytes32('own')
const orderId = bytes32('an order')
const candidate = (text: string) => ({
  commit: bytes32(text),
  receivedAt: '2025-01-02T03:04:05.000Z',
  envelope: { epk: '0x02', iv: '0x01', ct: bytes32(text), tag: '0x02' } as const,
})

// orderJunk.test.ts and the model have what orders that are open, or not yet, do with envelopes.
test.each<[string, number, EscrowKnowledge, string]>([
  [
    'does not replace junk once its order was refunded',
    1,
    { state: 'REFUNDED', commit: OWN },
    'already-received',
  ],
  ['replaces junk while the chain is down and its commit was seen before', 8, 'unknown', 'received'],
])('the wanted envelope %s', (_what, count, escrow, result) => {
  const candidates = Array.from({ length: count }, (_, n) => candidate(`junk ${n}`))
  const current = { ...emptyOrderRecord(orderId), candidates, escrowCommit: OWN }
  const offered = candidate('own')
  const { record, answer } = receive({ orderId, current, offered, escrow, refusal: undefined })
  expect(answer).toMatchObject({ result })
  expect(record?.candidates).toEqual(result === 'received' ? [offered] : candidates)
})
