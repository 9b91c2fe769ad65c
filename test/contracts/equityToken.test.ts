// What the invariants (contracts/test) do not ask: the flags' events, what names an equity has, and where its shares are.
import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32, sharesAddressOf } from '../../src/protocol/identifiers.js'
import { INTERFACES, useChain } from '../support/chain.js'
import { enact } from '../support/corporateActions.js'
import { AAPL, MSFT, shares, USDC, ZERO_BYTES32 } from '../support/institution.js'
import { callsOf } from './fixtures/calls.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)
const { account, send, read, revert, toldBy } = callsOf(chain, 'token')
const pool = () => chain().addressOf('pool')
const own = (method: string, ...args: unknown[]) => send('owner', method, ...args)

it.each([
  ['setKyc', 'KycUpdated', 'isKyc', () => [account('dave')]],
  ['setFrozen', 'FreezeUpdated', 'isFrozen', () => [MSFT, account('alice')]],
  ['setListed', 'ListingUpdated', 'isListed', () => [MSFT]],
] as const)('%s sets a flag, tells it, and clears it; an unchanged flag tells nothing', async (...names) => {
  const [method, event, view, whose] = names
  for (const flag of [true, false, true]) {
    expect(await toldBy(own(method, ...whose(), flag))).toEqual([[event, ...whose(), flag]])
    expect(await read(view, ...whose())).toBe(flag)
    expect(await toldBy(own(method, ...whose(), flag))).toEqual([])
  }
  expect(await read('isFrozen', AAPL, account('alice'))).toBe(false)
  expect(await read('isFrozen', MSFT, account('bob'))).toBe(false)
})

it('the flags exist for no equity called USDC, and for none without a well-formed name', async () => {
  const refused: [name: string, ...symbols: Hex[]][] = [
    ['ReservedSymbol', USDC],
    ['InvalidName', ZERO_BYTES32, `0x${'41'.repeat(32)}`, `0x00${'41'.padEnd(62, '0')}`],
  ]
  for (const [name, ...symbols] of refused)
    for (const symbol of symbols) {
      expect(await revert('owner', 'setListed', symbol, true)).toMatchObject({ name })
      expect(await revert('owner', 'setFrozen', symbol, account('alice'), true)).toMatchObject({ name })
    }
})

it('a change of symbol ends the listing, and wallets trade shares under the former name while the new one is listed', async () => {
  const bob = account('bob')
  const change = { kind: 'SYMBOL_CHANGE', symbol: 'AAPL', successor: 'MSFT' } as const
  await enact(chain(), { ...change, recordAt: await chain().now() })
  expect(await read('listedSymbols')).toEqual([])
  const refusal = { name: 'NotListed', args: { symbol: AAPL } }
  expect(await chain().revert('alice', 'aapl', 'transfer', bob, 1n)).toEqual(refusal)
  await chain().send('alice', 'aapl', 'transfer', pool(), 1n)
  await own('setListed', MSFT, true)
  await chain().send('alice', 'aapl', 'transfer', bob, 1n)
  expect(await revert('owner', 'setListed', AAPL, true)).toMatchObject({ name: 'SymbolRetired' })
  await enact(chain(), { kind: 'REMOVAL', symbol: 'MSFT', recordAt: await chain().now() })
  expect(await read('listedSymbols')).toEqual([])
  expect(await chain().revert('alice', 'aapl', 'transfer', bob, 1n)).toEqual(refusal)
})

it('the shares of a symbol are where the symbol says, from its first listing on, and a later one leaves them as they are', async () => {
  for (const name of ['AAPL', 'MSFT', 'BRK.B']) {
    const expected = sharesAddressOf(chain().addressOf('token'), name)
    expect(await read('sharesOf', nameToBytes32(name))).toBe(expected)
  }
  expect([await read('balanceOf', account('alice'), MSFT), await read('totalSupply', MSFT)]).toEqual([0n, 0n])
  await own('setListed', MSFT, true)
  expect(await chain().read('msft', 'name')).toBe('MSFT')
  for (const isListed of [false, true]) await own('setListed', AAPL, isListed)
  expect(await read('balanceOf', account('alice'), AAPL)).toBe(shares(10))
})

it('the shares of a symbol run code that holds nothing itself, and that no one can make a token of', async () => {
  const implementation = String(await read('sharesImplementation'))
  expect(await chain().provider.getCode(implementation)).not.toBe('0x')
  const [data, supply] = [INTERFACES.aapl.encodeFunctionData('mint', [1n]), '0x18160ddd']
  await expect(chain().provider.call({ from: pool(), to: implementation, data })).rejects.toThrow('revert')
  expect(BigInt(await chain().provider.call({ to: implementation, data: supply }))).toBe(0n)
})
