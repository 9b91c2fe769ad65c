import { expect, test } from 'vitest'
import { changeOf } from '../../web/operator/listingChange.js'

const [ALICE, BOB] = [
  '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
] as const

const listings = {
  equities: [
    { symbol: 'AAPL', isListed: true },
    { symbol: 'TSLA', isListed: false },
  ],
  frozen: [{ symbol: 'AAPL', wallet: BOB }],
}

test.each([
  [' brk.b ', '', { symbol: 'BRK.B', wallet: null }],
  ['tsla', '', { symbol: 'TSLA', wallet: null }],
  ['AAPL', ALICE.toLowerCase(), { symbol: 'AAPL', wallet: ALICE }],
])('the form lists with a symbol alone, and freezes with a wallet: %s %s', (symbol, wallet, change) => {
  expect(changeOf(symbol, wallet, listings).change).toEqual(change)
})

test.each([
  ['', '', { symbolFault: null, walletFault: null }],
  ['', ALICE, { symbolFault: null, walletFault: null }],
  ['AAPL', '', { symbolFault: 'AAPL is listed already.' }],
  ['usdc', ALICE, { symbolFault: expect.stringContaining('USDC is no equity.') }],
  ['1AB', '', { symbolFault: expect.stringContaining('ticker symbol') }],
  ['AAPL', BOB, { walletFault: 'This holding is frozen already.' }],
  ['AAPL', ALICE.slice(0, -1), { walletFault: 'Enter a whole address.' }],
  ['AAPL', ALICE.replace('d', 'D'), { walletFault: 'Enter a whole address.' }],
])('the form takes no change yet: "%s" "%s"', (symbol, wallet, faults) => {
  expect(changeOf(symbol, wallet, listings)).toMatchObject({ ...faults, change: null })
})
