import { describe, expect, test } from 'vitest'
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

describe('the form', () => {
  test('lists with a symbol alone, and freezes with a wallet', () => {
    expect(changeOf(' brk.b ', '', listings).change).toEqual({ symbol: 'BRK.B', wallet: null })
    expect(changeOf('tsla', '', listings).change).toEqual({ symbol: 'TSLA', wallet: null })
    expect(changeOf('AAPL', ALICE.toLowerCase(), listings).change).toEqual({ symbol: 'AAPL', wallet: ALICE })
  })

  test.each(['', ALICE])('waits for a symbol: %s', (wallet) => {
    expect(changeOf('', wallet, listings)).toEqual({ symbolFault: null, walletFault: null, change: null })
  })

  test.each([
    ['AAPL', '', 'AAPL is listed already.'],
    ['usdc', ALICE, expect.stringContaining('USDC is no equity.')],
    ['1AB', '', expect.stringContaining('ticker symbol')],
  ])('refuses the symbol %s', (symbol, wallet, fault) => {
    expect(changeOf(symbol, wallet, listings)).toMatchObject({ symbolFault: fault, change: null })
  })

  test.each([
    ['AAPL', BOB, 'This holding is frozen already.'],
    ['AAPL', ALICE.slice(0, -1), 'Enter a whole address.'],
    ['AAPL', '0x5D5c99EdF529335160FF180fA141Dd4967fc00D2', 'Enter a whole address.'],
  ])('refuses the wallet: %s %s', (symbol, wallet, fault) => {
    expect(changeOf(symbol, wallet, listings)).toMatchObject({ walletFault: fault, change: null })
  })
})
