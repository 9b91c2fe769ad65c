import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32, sharesAddressOf } from '../../src/protocol/identifiers.js'
import { INTERFACES, useChain } from '../support/chain.js'
import { enact } from '../support/corporateActions.js'
import { AAPL, MSFT, shares, USDC, ZERO_BYTES32 } from '../support/institution.js'
import type { Role } from '../support/roles.js'
import { setUpShares } from './fixtures/shares.js'

const chain = useChain(setUpShares)

const account = (role: Role): Hex => chain().account(role)
const pool = () => chain().addressOf('pool')
const own = (method: string, ...args: unknown[]) => chain().send('owner', 'token', method, ...args)
const read = (method: string, ...args: unknown[]) => chain().read('token', method, ...args)
const revert = (from: Role | Hex, method: string, ...args: unknown[]) =>
  chain().revert(from, 'token', method, ...args)
async function events(sent: ReturnType<typeof own>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

it('the flag of KYC is set, told, and cleared; an unchanged flag tells nothing', async () => {
  const dave = account('dave')
  expect(await events(own('setKyc', dave, true))).toEqual([['KycUpdated', dave, true]])
  expect(await read('isKyc', dave)).toBe(true)
  expect(await events(own('setKyc', dave, true))).toEqual([])
  expect(await events(own('setKyc', dave, false))).toEqual([['KycUpdated', dave, false]])
  expect(await read('isKyc', dave)).toBe(false)
})

it('the flag of a freeze is per symbol and wallet, and needs no listing', async () => {
  const alice = account('alice')
  expect(await events(own('setFrozen', MSFT, alice, true))).toEqual([['FreezeUpdated', MSFT, alice, true]])
  expect(await read('isFrozen', MSFT, alice)).toBe(true)
  expect(await read('isFrozen', AAPL, alice)).toBe(false)
  expect(await read('isFrozen', MSFT, account('bob'))).toBe(false)
  expect(await events(own('setFrozen', MSFT, alice, true))).toEqual([])
  expect(await events(own('setFrozen', MSFT, alice, false))).toEqual([['FreezeUpdated', MSFT, alice, false]])
  expect(await read('isFrozen', MSFT, alice)).toBe(false)
})

it('the flag of a listing is set, cleared and set again', async () => {
  expect(await events(own('setListed', MSFT, true))).toEqual([['ListingUpdated', MSFT, true]])
  expect(await read('listedSymbols')).toEqual([AAPL, MSFT])
  expect(await events(own('setListed', MSFT, true))).toEqual([])
  expect(await events(own('setListed', AAPL, false))).toEqual([['ListingUpdated', AAPL, false]])
  expect(await read('listedSymbols')).toEqual([MSFT])
  expect(await read('isListed', AAPL)).toBe(false)
  expect(await events(own('setListed', AAPL, false))).toEqual([])
  await own('setListed', AAPL, true)
  expect(await read('isListed', AAPL)).toBe(true)
  expect(new Set(await listed())).toEqual(new Set([AAPL, MSFT]))
})

it('the flags exist for no equity called USDC, and for none without a well-formed name', async () => {
  const unnamed: Hex[] = [ZERO_BYTES32, `0x${'41'.repeat(32)}`, `0x00${'41'.padEnd(62, '0')}`]
  for (const flag of [true, false]) {
    expect(await revert('owner', 'setListed', USDC, flag)).toEqual({
      name: 'ReservedSymbol',
      args: { symbol: USDC },
    })
    expect(await revert('owner', 'setFrozen', USDC, account('alice'), flag)).toEqual({
      name: 'ReservedSymbol',
      args: { symbol: USDC },
    })
    for (const symbol of unnamed) {
      const refusal = { name: 'InvalidName', args: { name: symbol } }
      expect(await revert('owner', 'setListed', symbol, flag)).toEqual(refusal)
      expect(await revert('owner', 'setFrozen', symbol, account('alice'), flag)).toEqual(refusal)
    }
  }
})

async function listed(): Promise<unknown[]> {
  const symbols = await read('listedSymbols')
  return Array.isArray(symbols) ? symbols : []
}

async function change(symbol: string, successor: string) {
  await enact(chain(), { kind: 'SYMBOL_CHANGE', symbol, successor, recordAt: await chain().now() })
}

it('a change of symbol ends the listing, and wallets trade shares under the former name while the new one is listed', async () => {
  const bob = account('bob')
  await change('AAPL', 'MSFT')
  expect(await listed()).toEqual([])
  const refusal = { name: 'NotListed', args: { symbol: AAPL } }
  expect(await chain().revert('alice', 'aapl', 'transfer', bob, 1n)).toEqual(refusal)
  await chain().send('alice', 'aapl', 'transfer', pool(), 1n)
  await own('setListed', MSFT, true)
  await chain().send('alice', 'aapl', 'transfer', bob, 1n)
  expect(await revert('owner', 'setListed', AAPL, true)).toEqual({
    name: 'SymbolRetired',
    args: { symbol: AAPL },
  })
  await enact(chain(), { kind: 'REMOVAL', symbol: 'MSFT', recordAt: await chain().now() })
  expect(await listed()).toEqual([])
  expect(await chain().revert('alice', 'aapl', 'transfer', bob, 1n)).toEqual(refusal)
})

it('a listing ends by the corporate actions alone', async () => {
  const refusal = { expected: chain().addressOf('actions'), caller: account('owner') }
  expect(await revert('owner', 'retire', AAPL)).toEqual({ name: 'NotActions', args: refusal })
})

it('mint and burn are the pool’s alone', async () => {
  for (const role of ['owner', 'relayer', 'alice'] as const) {
    const refusal = { name: 'NotPool', args: { expected: pool(), caller: account(role) } }
    expect(await revert(role, 'mint', AAPL, 1n)).toEqual(refusal)
    expect(await revert(role, 'burn', AAPL, 1n)).toEqual(refusal)
  }
})

it('the shares of a symbol are where the symbol says, whether they exist or not', async () => {
  for (const name of ['AAPL', 'MSFT', 'BRK.B']) {
    expect(await read('sharesOf', nameToBytes32(name))).toBe(
      sharesAddressOf(chain().addressOf('token'), name),
    )
  }
  expect(await chain().provider.getCode(chain().addressOf('msft'))).toBe('0x')
  expect(await read('balanceOf', account('alice'), MSFT)).toBe(0n)
  expect(await read('totalSupply', MSFT)).toBe(0n)
})

it('the shares of a symbol exist from the first listing on, and a later one leaves them as they are', async () => {
  expect(await events(own('setListed', MSFT, true))).toEqual([['ListingUpdated', MSFT, true]])
  expect(await chain().read('msft', 'name')).toBe('MSFT')
  await own('setListed', AAPL, false)
  await own('setListed', AAPL, true)
  expect(await read('balanceOf', account('alice'), AAPL)).toBe(shares(10))
  expect(await read('totalSupply', AAPL)).toBe(shares(100))
})

it('the shares of a symbol run code that holds nothing itself, and that no one can make a token of', async () => {
  const implementation = String(await read('sharesImplementation'))
  expect(await chain().provider.getCode(implementation)).not.toBe('0x')
  const [data, supply] = [INTERFACES.aapl.encodeFunctionData('mint', [1n]), '0x18160ddd']
  await expect(chain().provider.call({ from: pool(), to: implementation, data })).rejects.toThrow('revert')
  expect(BigInt(await chain().provider.call({ to: implementation, data: supply }))).toBe(0n)
})
