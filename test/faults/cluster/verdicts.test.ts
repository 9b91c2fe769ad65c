// Each verdict against a history that is as it must be, and against the same history doctored.
import { Transaction, Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { type AuditEvent, allEvents } from './audit.js'
import {
  excusedUntil,
  forgottenOrders,
  judgeNarration,
  lateRows,
  narratorDeaths,
  sharedNonces,
  unsavedBroadcasts,
} from './verdicts.js'

const wallet = new Wallet(`0x${'07'.repeat(32)}`)
const RELAYER = `relayer:${wallet.address}`
/** Signed by the relayer's account. */
const sign = (data: string) =>
  wallet.signTransaction({ nonce: 7, to: wallet.address, data, gasLimit: 50_000, gasPrice: 1, chainId: 1 })
const A = await sign('0x11')
const B = await sign('0x22')

/** Numbered and timed by their places. */
function history(...events: Partial<AuditEvent>[]): AuditEvent[] {
  return events.map((event, index) => ({
    seq: index + 1,
    at: (index + 1) * 1_000,
    server: '0.1',
    kind: 'insert',
    table: 'relays',
    id: '0x01',
    isOpen: true,
    doc: '{}',
    ...event,
  }))
}

const take = (id: string, server: string): Partial<AuditEvent> => ({
  table: 'leases',
  id,
  server,
  doc: 'a-term',
})
const hashOf = (raw: string) => Transaction.from(raw).hash
const signed = (raw: string, server = '0.1'): Partial<AuditEvent> => ({
  server,
  kind: 'update',
  doc: JSON.stringify({ transactions: [{ nonce: 7, hash: hashOf(raw), raw }] }),
})
const sent = (raw: string, at: number, data = '0x11') => ({ raw, at, data, nonce: 7, from: wallet.address })

describe('a row of an earlier term', () => {
  const narrated = (server: string): Partial<AuditEvent> => ({ table: 'state', id: 'narrator', server })
  const run = (server: string, job: string): Partial<AuditEvent> => ({
    table: 'runs',
    server,
    doc: JSON.stringify({ job }),
  })

  test('before the take is in order, and so are rows that need no lease', () => {
    const events = history(
      take(RELAYER, '0.1'),
      signed(A),
      take(RELAYER, '1.1'),
      signed(B, '1.1'),
      { server: '0.1', doc: JSON.stringify({ transactions: [] }) },
      { server: '0.1', table: 'orders' },
      take('trigger', '1.1'),
      run('0.1', 'policy'),
    )
    expect(lateRows({ events, unseen: [] })).toEqual([])
  })

  test.each([
    ['narrator', narrated('0.1')],
    ['trigger', run('0.1', 'order')],
    ['trigger', run('0.1', 'reconcile')],
    [RELAYER, signed(A)],
    [RELAYER, { table: 'state', id: `no-op:${wallet.address}:7`, doc: '[]' }],
  ])('after the take of %s is found', (lease, row) => {
    const events = history(take(lease, '0.1'), take(lease, '1.1'), row)
    expect(lateRows({ events, unseen: [] })).toHaveLength(1)
  })

  test('that ran before the take and was committed after it is found', () => {
    const events = history(take('narrator', '0.1'), narrated('0.1'), take('narrator', '1.1'))
    expect(lateRows({ events, unseen: [] })).toEqual([])
    expect(lateRows({ events, unseen: [[3, 2]] })).toHaveLength(1)
  })
})

describe('a transaction on its way', () => {
  test('that was stored before is in order, also once its bytes are dropped', () => {
    const events = history(signed(A), {
      kind: 'update',
      doc: JSON.stringify({ transactions: [{ nonce: 7, hash: hashOf(A) }] }),
    })
    expect(unsavedBroadcasts({ events }, [sent(A, 1_500), sent(A, 9_000)])).toEqual([])
  })

  test('that was stored as a no-op is in order', () => {
    const doc = JSON.stringify([{ nonce: 7, hash: hashOf(A), raw: A }])
    const events = history({ table: 'state', id: `no-op:${wallet.address}:7`, doc })
    expect(unsavedBroadcasts({ events }, [sent(A, 1_500)])).toEqual([])
  })

  test('that was stored after it was sent, or never, is found', () => {
    const events = history(signed(A))
    expect(unsavedBroadcasts({ events }, [sent(A, 500)])).toEqual(['nonce 7: sent before it was saved'])
    expect(unsavedBroadcasts({ events }, [sent(B, 5_000)])).toEqual(['nonce 7: sent and never saved'])
  })
})

describe('two calls under one nonce', () => {
  const both = [sent(A, 2_000), sent(B, 3_000, '0x22')]

  test('are counted, and in order where both are stored', () => {
    const events = history(signed(A), signed(B))
    expect(sharedNonces({ events }, both)).toEqual({ shared: 1, violations: [] })
  })

  test('are found where one is not', () => {
    const { violations } = sharedNonces({ events: history(signed(A)) }, both)
    expect(violations).toEqual([
      `nonce 7 of ${wallet.address}: two calls were sent under it, one without a record`,
    ])
  })
})

describe('the narration of all servers', () => {
  const expected = ['a', 'b', 'b', 'c', 'd']
  const EMPTY: readonly string[] = []
  const judge = (told: readonly string[], deaths: number, { losses = 0, later = EMPTY } = {}) =>
    judgeNarration(expected, told, { deaths, losses, later })

  test('tells every event once, whatever the order of its lines', () => {
    expect(judge(['b', 'a', 'b', 'd', 'c'], 0)).toEqual({ missing: 0, repeated: 0, violations: [] })
  })

  test('that tells one twice, or one that never was, is found', () => {
    expect(judge([...expected, 'b'], 9).violations).toEqual(['narrated once too often: b'])
    expect(judge([...expected, 'e'], 9).violations).toHaveLength(1)
  })

  test('may have told what came after the cursor that was read, once', () => {
    const later = ['d', 'e', 'f']
    expect(judge([...expected, 'e'], 0, { later })).toEqual({ missing: 0, repeated: 0, violations: [] })
    expect(judge([...expected, 'd', 'e'], 0, { later }).violations).toEqual([])
    expect(judge([...expected, 'e', 'e'], 0, { later }).violations).toEqual(['narrated once too often: e'])
    expect(judge(['a', 'b', 'b', 'c', 'e'], 0, { later })).toMatchObject({ missing: 1 })
  })

  test('may miss the lines of one look for each kill of a server that narrates', () => {
    expect(judge(['a', 'b', 'b'], 1)).toMatchObject({ missing: 2, violations: [] })
    expect(judge(['a', 'b', 'b'], 0).violations).toHaveLength(1)
    expect(judge(['b', 'b', 'd'], 1).violations).toHaveLength(1)
  })

  test('may repeat what came after the cursor that a failover has left, once', () => {
    const told = [...expected, 'c', 'd']
    expect(judge(told, 0, { losses: 1 })).toEqual({ missing: 0, repeated: 2, violations: [] })
    expect(judge([...told, 'd'], 0, { losses: 1 }).violations).toHaveLength(1)
    expect(judge([...expected, 'e'], 0, { losses: 1 }).violations).toHaveLength(1)
  })

  test('counts the kills of the server that narrated then', () => {
    const events = history(take('narrator', '0.1'), take('narrator', '1.1'))
    const deaths = [
      { at: 1_500, server: '0.1' },
      { at: 1_600, server: '1.1' },
      { at: 2_500, server: '0.2' },
      { at: 2_600, server: '1.1' },
    ]
    expect(narratorDeaths({ events }, deaths)).toBe(2)
  })
})

test('an order that was taken and is not stored is found', () => {
  const events = history({ table: 'orders', id: '0x0A' }, { table: 'relays', id: '0x0b' })
  expect(forgottenOrders({ events }, ['0x0a', '0x0b'])).toEqual(['0x0b'])
})

describe('standing still', () => {
  const doc = (change: object = {}) =>
    JSON.stringify({ job: 'order', startedAt: '1970-01-01T00:00:01.000Z', stopAt: 91, ...change })
  const enclave = { instance: 'an instance', boot: 1 }
  const calmAt = 20_000

  test('is excused until a minute after the time of a run whose enclave was replaced', () => {
    const replaced = { doc: doc({ enclave }), since: 1_000 }
    expect(excusedUntil([replaced], { replacedAt: [1_500], calmAt })).toBe(151_000)
    expect(excusedUntil([{ doc: doc(), since: 1_000 }], { replacedAt: [1_500], calmAt })).toBe(151_000)
  })

  test('is excused no longer where the clock was ahead', () => {
    const ahead = doc({ startedAt: '1970-01-01T02:00:01.000Z', stopAt: 7_291 })
    const until = excusedUntil([{ doc: ahead, since: 1_000 }], { replacedAt: [1_500], calmAt })
    expect(until).toBe(calmAt + 90_000 + 60_000)
  })

  test('is not excused by a run whose enclave was not replaced since, known or not, nor by one that began later', () => {
    const known = { doc: doc({ enclave }), since: 2_000 }
    expect(excusedUntil([known], { replacedAt: [1_500], calmAt })).toBe(0)
    expect(excusedUntil([{ doc: doc(), since: 1_000 }], { replacedAt: [], calmAt })).toBe(0)
    expect(excusedUntil([{ doc: doc(), since: 20_001 }], { replacedAt: [20_002], calmAt })).toBe(0)
    expect(excusedUntil([], { replacedAt: [1_500], calmAt })).toBe(0)
  })
})

test('the notes of a lost database are counted once, together with the next one’s', () => {
  const before = history({}, {}, { id: 'lost' })
  const after = [...before.slice(0, 2), ...history({ seq: 3, at: 3_500, id: 'kept' })]
  const ids = allEvents([
    { events: before, unseen: [] },
    { events: after, unseen: [] },
  ]).map(({ id }) => id)
  expect(ids).toEqual(['0x01', '0x01', 'lost', 'kept'])
})
