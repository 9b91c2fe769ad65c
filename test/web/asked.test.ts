import { expect, it } from 'vitest'
import { type Asking, askedFor } from '../../web/trade/asked.js'

const escrowed = 70_000_000n
const deposited = { symbol: 'AAPL', amount: 2_500_000_000n }
const UNKNOWN = { byPlatform: null }
const SPONSORED = { byPlatform: true }
const askedWith = (asking: Partial<Asking>) =>
  askedFor({
    ...{ unlocked: true, byPlatform: false, escrowed: 0n, deposited: null, allowance: 0n, step: null },
    ...asking,
  })

it.each<[string, Partial<Asking>, string]>([
  ['for the key of a first order', { unlocked: false }, 'unlocking signing opening'],
  ['for the key while it is made', { step: 'unlocking' }, 'unlocking signing opening'],
  ['for a payment without allowance', { escrowed, allowance: 1n }, 'signing authorizing opening'],
  ['for no payment that is allowed', { escrowed, allowance: escrowed }, 'signing opening'],
  ['for an approval while it is asked for', { step: 'approving' }, 'signing approving opening'],
  ['for signatures where the platform opens', { ...SPONSORED, escrowed }, 'signing authorizing'],
  ['the same with an allowance', { ...SPONSORED, escrowed, allowance: escrowed }, 'signing authorizing'],
  ['for neither where it is unknown who opens', { ...UNKNOWN, escrowed }, 'signing opening'],
  ['to approve shares and then to open', { deposited }, 'signing approving opening'],
])('the wallet is asked %s', (_what, asking, steps) => {
  const asked = askedWith(asking).map(({ step }) => step)
  expect(asked.join(' ')).toBe(steps)
})

it.each<[string, Partial<Asking>]>([
  ['Open the escrow with exactly 70.00 USDC.', { escrowed }],
  ['Sign the payment of exactly 70.00 USDC', { ...SPONSORED, escrowed }],
  ['No amount shows', SPONSORED],
  ['the order’s USDC', { ...SPONSORED, escrowed: null }],
  ['Pay exactly 70.00 USDC into the escrow: a signature if the platform pays', { ...UNKNOWN, escrowed }],
  ['Open the order: a signature if the platform pays the network fee, else a transaction.', UNKNOWN],
  ['Open the escrow with exactly 2.5 AAPL.', { deposited }],
  ['the AAPL shares', { deposited: { ...deposited, amount: null } }],
])('the last prompt says: %s', (words, asking) => {
  expect(askedWith(asking).at(-1)?.says).toContain(words)
})
