import { expect, it } from 'vitest'
import { type Asking, askedFor } from '../../web/trade/asked.js'

const dollars = (amount: number) => BigInt(amount) * 1_000_000n
const stepsOf = (asking: Partial<Asking>) =>
  askedFor({ unlocked: true, escrowed: 0n, allowance: 0n, step: null, ...asking }).map(({ step }) => step)

it('a first order needs the key of the portfolio, too', () => {
  expect(stepsOf({ unlocked: false, escrowed: dollars(70) })).toEqual([
    ...['unlocking', 'signing', 'approving', 'opening'],
  ])
  expect(stepsOf({ unlocked: false })).toEqual(['unlocking', 'signing', 'opening'])
})

it('an approval is asked for where the allowance is short', () => {
  expect(stepsOf({ escrowed: dollars(70), allowance: dollars(69) })).toEqual([
    ...['signing', 'approving', 'opening'],
  ])
  expect(stepsOf({ escrowed: dollars(70), allowance: dollars(70) })).toEqual(['signing', 'opening'])
})

it('a step that is asked for now is listed, also when the page knows that it is done', () => {
  expect(stepsOf({ step: 'unlocking' })).toContain('unlocking')
  expect(stepsOf({ step: 'approving' })).toContain('approving')
})

it('the amounts are named', () => {
  const asked = askedFor({ unlocked: true, escrowed: dollars(1_000), allowance: 0n, step: null })
  expect(asked.map(({ says }) => says)).toEqual([
    'Sign the order. This device then seals it.',
    'Approve exactly 1,000.00 USDC for the escrow.',
    'Open the escrow with 1,000.00 USDC. You get it back if the order is refused.',
  ])
})
