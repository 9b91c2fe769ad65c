import { expect, it } from 'vitest'
import { type Asking, askedFor } from '../../web/trade/asked.js'

const dollars = (amount: number) => BigInt(amount) * 1_000_000n
const SPONSORED = { unlocked: true, byPlatform: true, deposited: null, allowance: 0n, step: null }
const stepsOf = (asking: Partial<Asking>) =>
  askedFor({
    unlocked: true,
    byPlatform: false,
    escrowed: 0n,
    deposited: null,
    allowance: 0n,
    step: null,
    ...asking,
  }).map(({ step }) => step)

it('a first order needs the key of the portfolio, too', () => {
  expect(stepsOf({ unlocked: false, escrowed: dollars(70) })).toEqual([
    ...['unlocking', 'signing', 'authorizing', 'opening'],
  ])
  expect(stepsOf({ unlocked: false })).toEqual(['unlocking', 'signing', 'opening'])
})

it('a payment is signed where the allowance is short', () => {
  expect(stepsOf({ escrowed: dollars(70), allowance: dollars(69) })).toEqual([
    ...['signing', 'authorizing', 'opening'],
  ])
  expect(stepsOf({ escrowed: dollars(70), allowance: dollars(70) })).toEqual(['signing', 'opening'])
})

it('a step that is asked for now is listed, also when the page knows that it is done', () => {
  expect(stepsOf({ step: 'unlocking' })).toContain('unlocking')
  expect(stepsOf({ step: 'approving' })).toContain('approving')
})

it('the amounts are named', () => {
  const asked = askedFor({
    unlocked: true,
    byPlatform: false,
    escrowed: dollars(1_000),
    deposited: null,
    allowance: 0n,
    step: null,
  })
  expect(asked.map(({ says }) => says)).toEqual([
    'Sign the order. This device then seals it.',
    'Sign the payment of exactly 1,000.00 USDC into the escrow, unless your wallet pays and opens in one step.',
    'Open the escrow with exactly 1,000.00 USDC. You get it back if the order is refused.',
  ])
})

it('for an order that the platform opens, all are signatures, and no allowance counts', () => {
  const byPlatform = { byPlatform: true, escrowed: dollars(70) }
  expect(stepsOf(byPlatform)).toEqual(['signing', 'authorizing'])
  expect(stepsOf({ ...byPlatform, allowance: dollars(70) })).toEqual(['signing', 'authorizing'])
  const saysOf = (escrowed: bigint | null) => askedFor({ ...SPONSORED, escrowed }).at(-1)?.says
  expect(saysOf(dollars(70))).toContain('exactly 70.00 USDC')
  expect(saysOf(0n)).toContain('No amount shows')
  expect(saysOf(null)).toContain('the order’s USDC')
})

it('while it is unknown who opens the order, the prompt names both ways, and claims neither', () => {
  expect(stepsOf({ byPlatform: null, escrowed: dollars(70) })).toEqual(['signing', 'opening'])
  const saysOf = (escrowed: bigint | null) =>
    askedFor({ ...SPONSORED, byPlatform: null, escrowed }).at(-1)?.says
  expect(saysOf(dollars(70))).toBe(
    'Pay exactly 70.00 USDC into the escrow: a signature if the platform pays the network fee, else also a transaction. You get the USDC back if the order is refused.',
  )
  expect(saysOf(0n)).toMatch(
    /^Open the order: a signature if the platform pays the network fee, else a transaction\./,
  )
})

it('shares are approved and then taken', () => {
  const deposited = { symbol: 'AAPL', amount: 2_500_000_000n }
  expect(stepsOf({ deposited })).toEqual(['signing', 'approving', 'opening'])
  const saysOf = (amount: bigint | null) =>
    askedFor({ ...SPONSORED, byPlatform: false, escrowed: 0n, deposited: { ...deposited, amount } }).map(
      ({ says }) => says,
    )
  expect(saysOf(deposited.amount)).toEqual([
    'Sign the order. This device then seals it.',
    'Approve exactly 2.5 AAPL for the escrow, unless your wallet does both in one step.',
    'Open the escrow with exactly 2.5 AAPL. You get them back if the order is refused.',
  ])
  expect(saysOf(null)[1]).toContain('the AAPL shares')
})
