// Verdicts against doctored outcomes.
import { Transaction, Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { AuditEvent } from './audit.js'
import { runsWithoutCancel } from './cancels.js'
import { type Case, faultsOfCase, faultsOfHoldings, faultsOfPortfolio } from './census.js'
import { judgeNarration, lateRows, sharedNonces } from './history.js'

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
    ...{ seq: index + 1, at: (index + 1) * 1_000, server: '0.1', kind: 'insert', table: 'relays' },
    ...{ id: '0x01', isOpen: true, doc: '{}', ...event },
  }))
}

const take = (id: string, server: string): Partial<AuditEvent> => ({
  ...{ table: 'leases', id, server, doc: 'a-term' },
})
const signed = (raw: string): Partial<AuditEvent> => ({
  kind: 'update',
  doc: JSON.stringify({ transactions: [{ nonce: 7, hash: Transaction.from(raw).hash, raw }] }),
})
const sent = (raw: string, at: number, data = '0x11') => ({ raw, at, data, nonce: 7, from: wallet.address })

test.each<[string, Partial<AuditEvent>]>([
  ['narrator', { table: 'state', id: 'narrator' }],
  ['trigger', { table: 'runs', doc: JSON.stringify({ job: 'order' }) }],
  ['trigger', { table: 'runs', doc: JSON.stringify({ job: 'reconcile' }) }],
  [RELAYER, signed(A)],
  [RELAYER, { table: 'state', id: `no-op:${wallet.address}:7`, doc: '[]' }],
])('a row of an earlier term after the take of %s is found', (lease, row) => {
  const events = history(take(lease, '0.1'), take(lease, '1.1'), row)
  expect(lateRows({ events, unseen: [] })).toHaveLength(1)
})

test('a row that ran before the take of its lease and was committed after it is found', () => {
  const row = { table: 'state', id: 'narrator' }
  const events = history(take('narrator', '0.1'), row, take('narrator', '1.1'))
  expect(lateRows({ events, unseen: [] })).toEqual([])
  expect(lateRows({ events, unseen: [[3, 2]] })).toHaveLength(1)
})

test('two calls under one nonce are found where one has no record', () => {
  const both = [sent(A, 2_000), sent(B, 3_000, '0x22')]
  expect(sharedNonces({ events: history(signed(A), signed(B)) }, both).violations).toEqual([])
  expect(sharedNonces({ events: history(signed(A)) }, both).violations).toEqual([
    `nonce 7 of ${wallet.address}: two calls were sent under it, one without a record`,
  ])
})

test('the narration of all servers is found where it tells an event twice, one that never was, or none without a kill', () => {
  const expected = ['a', 'b', 'b', 'c', 'd']
  const judge = (told: readonly string[], deaths: number, losses = 0) =>
    judgeNarration(expected, told, { deaths, losses, later: ['d', 'e'] }).violations
  expect(judge([...expected, 'e', 'd'], 0)).toEqual([])
  expect(judge([...expected, 'b'], 9)).toEqual(['narrated once too often: b'])
  expect(judge([...expected, 'f'], 9)).toHaveLength(1)
  // A kill loses the lines of one look, which stand together.
  expect([judge(['a', 'b', 'b'], 1), judge(['a', 'b', 'b'], 0)]).toEqual([[], [expect.any(String)]])
  expect(judge(['b', 'b', 'd'], 1)).toHaveLength(1)
  // A failover repeats lines once.
  expect([judge([...expected, 'c'], 0, 1), judge([...expected, 'c', 'c'], 0, 1)]).toEqual([
    [],
    [expect.any(String)],
  ])
})

describe('an order with shares', () => {
  const account = { address: `0x${'a1'.repeat(20)}` as const }
  const HELD = 2_000_000_000n
  const deposit = { symbol: 'AAPL', shares: HELD }
  const settled = { state: 'SETTLED', amount: 0n, payout: 0n, payoutSymbol: null } as const
  const WALLET = `wallet ${account.address} AAPL`

  function caseOf(request: Case['order']['request'], escrow: Partial<NonNullable<Case['escrow']>>) {
    const order = { accepted: true, request, account, sealed: { orderId: `0x${'11'.repeat(32)}` as const } }
    const record = { amount: 0n, deposit: null, opens: 1, ends: [settled], ...escrow }
    return { order, escrow: record, fill: undefined } satisfies Case
  }
  const deposits = (changes: Partial<NonNullable<Case['escrow']>> = {}) =>
    caseOf({ side: 'DEPOSIT', symbol: 'AAPL', shares: HELD }, { deposit, ...changes })
  const bought = (changes: Partial<NonNullable<Case['escrow']>> = {}): Case => ({
    ...caseOf({ side: 'BUY', symbol: 'AAPL', usdc: 0n }, changes),
    fill: { qty: 3n * HELD, avgPrice: '0' },
  })
  const payout = { ...settled, payout: 3n * HELD, payoutSymbol: 'AAPL' }
  const withdrawal = caseOf({ side: 'WITHDRAW', symbol: 'AAPL', shares: 3n * HELD }, { ends: [payout] })

  test.each<[string, Case]>([
    ['had no shares in escrow', deposits({ deposit: null })],
    ['had 1 AAPL in escrow', deposits({ deposit: { symbol: 'AAPL', shares: 1n } })],
    ['has ended 2 times', deposits({ ends: [settled, settled] })],
    ['is at the broker', { ...deposits(), fill: { qty: 1n, avgPrice: '1' } }],
    ['was refunded, and 6000000000 were filled', bought({ ends: [{ ...settled, state: 'REFUNDED' }] })],
  ])('is found out where it %s', (fault, doctored) => {
    expect(faultsOfCase(doctored)).toEqual([expect.stringMatching(new RegExp(`: ${fault}$`))])
  })

  test('is found out where wallet, escrow or portfolio have another amount', () => {
    const cases = [withdrawal, deposits()]
    const inWallets = (shares: bigint, escrow: bigint) =>
      faultsOfHoldings(
        cases,
        new Map(),
        new Map([
          [WALLET, shares],
          ['escrow AAPL', escrow],
        ]),
      ).filter((fault) => fault.includes('AAPL'))
    const inPortfolio = (qty: bigint, cash: bigint) =>
      faultsOfPortfolio([bought(), ...cases], account, {
        portfolio: { cash, positions: { AAPL: { qty, locked: 0n } }, openOrders: {} },
      })
    expect([...inWallets(2n * HELD, 0n), ...inPortfolio(HELD, 0n)]).toEqual([])
    expect(inWallets(3n * HELD, 1n)).toEqual([
      `${WALLET}: ${3n * HELD} instead of ${2n * HELD}`,
      'escrow AAPL: 1 instead of 0',
    ])
    expect(inPortfolio(0n, 1_000_000n)).toEqual([
      expect.stringContaining('has 1 in cash instead of 0'),
      expect.stringContaining(`has 0 AAPL instead of ${HELD}`),
    ])
  })
})

test('one run may begin without a cancel that is being stored, and a second one is found', () => {
  const orderId = '0x11'
  const stored = { sealed: { orderId }, cancel: { answer: 'stored', at: 100 } } as const
  const job = (runId: string, at: number, hasCancel = false) => ({ runId, at, orderId, hasCancel })
  const known = [job('a', 90), job('c', 101), job('d', 120, true)]
  expect(runsWithoutCancel([stored], known)).toEqual([])
  expect(runsWithoutCancel([stored], [...known, job('e', 130)])).toHaveLength(1)
})
