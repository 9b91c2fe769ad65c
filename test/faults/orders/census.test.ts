import { describe, expect, it } from 'vitest'
import { type Case, faultsOfCase, faultsOfPortfolio, faultsOfShares } from './census.js'

const account = { address: `0x${'a1'.repeat(20)}` as const }
const HELD = 2_000_000_000n
const deposit = { symbol: 'AAPL', shares: HELD }
const settled = { state: 'SETTLED', amount: 0n, payout: 0n, payoutSymbol: null } as const

function caseOf(request: Case['order']['request'], escrow: Partial<NonNullable<Case['escrow']>>): Case {
  const sealed = { orderId: `0x${'11'.repeat(32)}` as const }
  return {
    order: { accepted: true, request, account, sealed },
    escrow: { amount: 0n, deposit: null, opens: 1, ends: [settled], ...escrow },
    fill: undefined,
  }
}

const deposits = (changes: Partial<NonNullable<Case['escrow']>> = {}) =>
  caseOf({ side: 'DEPOSIT', symbol: 'AAPL', maxSpend: HELD }, { deposit, ...changes })
const withdraws = (payout = HELD) =>
  caseOf(
    { side: 'WITHDRAW', symbol: 'AAPL', maxSpend: payout },
    { ends: [{ ...settled, payout, payoutSymbol: 'AAPL' }] },
  )
const WITHDRAWAL = withdraws(3n * HELD)
const DEPOSIT = deposits()
const CLEAN = [WITHDRAWAL, DEPOSIT]
const WALLET = `wallet ${account.address} AAPL`

describe('a deposit of shares', () => {
  it('is right when its escrow held exactly what was ordered, and it has ended once', () => {
    expect(CLEAN.flatMap(faultsOfCase)).toEqual([])
  })

  it.each<[string, Case]>([
    ['had no shares in escrow', deposits({ deposit: null })],
    ['had 1 AAPL in escrow', deposits({ deposit: { symbol: 'AAPL', shares: 1n } })],
    [`had ${HELD} MSFT in escrow`, deposits({ deposit: { symbol: 'MSFT', shares: HELD } })],
    ['has ended 2 times', deposits({ ends: [settled, settled] })],
    ['is at the broker', { ...DEPOSIT, fill: { qty: 1n, avgPrice: '1' } }],
  ])('is found out where it %s', (fault, doctored) => {
    expect(faultsOfCase(doctored)).toEqual([expect.stringMatching(new RegExp(`: ${fault}$`))])
  })

  it('is no other order: one that brought shares is found out', () => {
    const buy = caseOf({ side: 'SELL', symbol: 'AAPL', maxSpend: 1n }, { deposit })
    expect(faultsOfCase({ ...buy, fill: { qty: 1n, avgPrice: '1' } })).toEqual([
      expect.stringContaining(`had ${HELD} AAPL in escrow`),
    ])
  })
})

describe('the shares', () => {
  const found = (wallet: bigint, escrow = 0n, cases: readonly Case[] = CLEAN) =>
    faultsOfShares(
      cases,
      new Map([
        [WALLET, wallet],
        ['escrow AAPL', escrow],
      ]),
    )

  it('are in the wallet that withdrew them, less those that it deposited', () => {
    expect(found(2n * HELD)).toEqual([])
    expect(
      found(3n * HELD, 0n, [WITHDRAWAL, deposits({ ends: [{ ...settled, state: 'REFUNDED' }] })]),
    ).toEqual([])
  })

  it('are found out where a refund kept them, a settlement left them, or the escrow holds some still', () => {
    expect(
      found(2n * HELD, 0n, [WITHDRAWAL, deposits({ ends: [{ ...settled, state: 'REFUNDED' }] })]),
    ).toEqual([`${WALLET}: ${2n * HELD} shares instead of ${3n * HELD}`])
    expect(found(3n * HELD)).toEqual([`${WALLET}: ${3n * HELD} shares instead of ${2n * HELD}`])
    expect(found(2n * HELD, 1n)).toEqual(['escrow AAPL: 1 shares instead of 0'])
  })
})

describe('the portfolio', () => {
  const BOUGHT = 3n * HELD
  const bought: Case = {
    ...caseOf({ side: 'BUY', symbol: 'AAPL', maxSpend: 0n }, {}),
    fill: { qty: BOUGHT, avgPrice: '0' },
  }
  const found = (qty: bigint, cash = 0n) =>
    faultsOfPortfolio([bought, ...CLEAN], account, {
      portfolio: { cash, positions: qty === 0n ? {} : { AAPL: { qty, locked: 0n } }, openOrders: {} },
    }).map((fault) => fault.replace(`the portfolio of ${account.address}: `, ''))

  it('has deposited shares once', () => {
    expect(found(HELD)).toEqual([])
  })

  it('is found out where it has them never, twice, or as cash', () => {
    expect(found(0n)).toEqual([`has 0 AAPL instead of ${HELD}`])
    expect(found(2n * HELD)).toEqual([`has ${2n * HELD} AAPL instead of ${HELD}`])
    expect(found(HELD, 1_000_000n)).toEqual(['has 1 in cash instead of 0'])
  })
})
