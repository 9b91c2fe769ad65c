import { Interface } from 'ethers'
import { describe, expect, test } from 'vitest'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { type Listings, listingsOf } from '../../src/client/past/facts.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { changeOf } from '../../web/operator/listingChange.js'

const token = new Interface(equityTokenAbi)
const [ALICE, BOB] = [
  '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
] as const

function logsOf(...events: [name: string, ...args: unknown[]][]) {
  return events.map(([name, ...args]) => token.encodeEventLog(name, args))
}

const AAPL = nameToBytes32('AAPL')
const logs = logsOf(
  ['ListingUpdated', nameToBytes32('TSLA'), true],
  ['ListingUpdated', AAPL, true],
  ['FreezeUpdated', AAPL, ALICE, true],
  ['FreezeUpdated', AAPL, BOB, true],
  ['ListingUpdated', nameToBytes32('TSLA'), false],
  ['FreezeUpdated', AAPL, ALICE, false],
  ['KycUpdated', ALICE, true],
)
const listings: Listings = listingsOf(logs)

test('the last event of an equity or a holding decides', () => {
  expect(listings.equities).toEqual([
    { symbol: 'AAPL', isListed: true },
    { symbol: 'TSLA', isListed: false },
  ])
  expect(listings.frozen).toEqual([{ symbol: 'AAPL', wallet: BOB }])
})

describe('the form', () => {
  test('lists with a symbol alone, and freezes with a wallet', () => {
    expect(changeOf(' brk.b ', '', listings).change).toEqual({ symbol: 'BRK.B', wallet: null })
    expect(changeOf('tsla', '', listings).change).toEqual({ symbol: 'TSLA', wallet: null })
    expect(changeOf('AAPL', ALICE.toLowerCase(), listings).change).toEqual({ symbol: 'AAPL', wallet: ALICE })
  })

  test.each([
    ['', ''],
    ['', ALICE],
  ])('waits for a symbol: %s %s', (symbol, wallet) => {
    expect(changeOf(symbol, wallet, listings)).toEqual({
      symbolFault: null,
      walletFault: null,
      change: null,
    })
  })

  test.each([
    ['AAPL', '', 'AAPL is listed already.'],
    ['USDC', '', 'USDC is no equity.'],
    ['usdc', ALICE, 'USDC is no equity.'],
    ['1AB', '', expect.stringContaining('ticker symbol')],
    ['AA PL', '', expect.stringContaining('ticker symbol')],
    ['ABCDEFGHIJKL', '', expect.stringContaining('ticker symbol')],
  ])('refuses the symbol %s', (symbol, wallet, fault) => {
    expect(changeOf(symbol, wallet, listings)).toMatchObject({ symbolFault: fault, change: null })
  })

  test.each([
    ['AAPL', BOB, 'This holding is frozen already.'],
    ['AAPL', ALICE.slice(0, -1), 'Enter a whole address.'],
    ['AAPL', `${ALICE.slice(0, -1)}z`, 'Enter a whole address.'],
    ['AAPL', '0x5D5c99EdF529335160FF180fA141Dd4967fc00D2', 'Enter a whole address.'],
  ])('refuses the wallet: %s %s', (symbol, wallet, fault) => {
    expect(changeOf(symbol, wallet, listings)).toMatchObject({ walletFault: fault, change: null })
  })
})
