import type { Hex } from '../../../src/protocol/hex.js'
import type { ContractKey, TestChain } from '../chain.js'
import { AAPL, MSFT, USDC } from '../institution.js'
import { type Call, encodeCall } from './simulation.js'
import { balanceOf, claimedOf, escrowedOf, HOLDERS, type Holder, type ModelState } from './state.js'
import { SYMBOLS, WALLETS } from './steps.js'

/**
 * Each holder's part, `USDC alice`, `AAPL pool`; `AAPL supply` for all of it; and what the escrow counts: `escrowed` in open
 * orders, `AAPL claimed`, `open` orders and `open alice`.
 */
export type Census = Record<string, bigint>

const NAMES: ReadonlyMap<Hex, string> = new Map([
  [USDC, 'USDC'],
  [AAPL, 'AAPL'],
  [MSFT, 'MSFT'],
])

export function nameOf(asset: Hex): string {
  return NAMES.get(asset) ?? asset
}

/** The model's census. */
export function modelledCensus(state: ModelState): Census {
  const census: Census = {}
  for (const asset of [USDC, ...SYMBOLS]) {
    for (const holder of HOLDERS) census[`${nameOf(asset)} ${holder}`] = balanceOf(state, asset, holder)
  }
  for (const symbol of SYMBOLS) census[`${nameOf(symbol)} supply`] = state.supply.get(symbol) ?? 0n
  for (const asset of [USDC, ...SYMBOLS]) census[`${nameOf(asset)} claimed`] = claimedOf(state, asset)
  census.escrowed = escrowedOf(state, USDC)
  const open = state.orders.filter((order) => order.open)
  census.open = BigInt(open.length)
  for (const wallet of WALLETS) {
    census[`open ${wallet}`] = BigInt(open.filter(({ account }) => account === wallet).length)
  }
  return census
}

/** Everything of that asset that someone holds. */
export function heldOf(census: Census, asset: Hex): bigint {
  return HOLDERS.reduce((sum, holder) => sum + (census[`${nameOf(asset)} ${holder}`] ?? 0n), 0n)
}

/** The calls that take a census on the chain, and what their results say. */
export function createCensus(chain: TestChain) {
  const addressOf = (holder: Holder): Hex =>
    holder === 'escrow' || holder === 'pool' ? chain.addressOf(holder) : chain.account(holder)
  const read = (key: string, contract: ContractKey, method: string, ...args: unknown[]) => ({
    key,
    call: { to: chain.addressOf(contract), data: encodeCall(contract, method, args) },
  })
  const entries = [
    ...HOLDERS.map((holder) => read(`USDC ${holder}`, 'usdc', 'balanceOf', addressOf(holder))),
    ...SYMBOLS.flatMap((symbol) => [
      ...HOLDERS.map((holder) =>
        read(`${nameOf(symbol)} ${holder}`, 'token', 'balanceOf', addressOf(holder), symbol),
      ),
      read(`${nameOf(symbol)} supply`, 'token', 'totalSupply', symbol),
    ]),
    ...[USDC, ...SYMBOLS].map((asset) => read(`${nameOf(asset)} claimed`, 'escrow', 'claimed', asset)),
    read('escrowed', 'escrow', 'escrowed'),
    read('open', 'escrow', 'openOrders'),
    ...WALLETS.map((wallet) => read(`open ${wallet}`, 'escrow', 'openOrdersBy', chain.account(wallet))),
  ]
  return {
    calls: entries.map(({ call }): Call => call),
    parse: (answers: readonly (string | null)[]): Census =>
      Object.fromEntries(entries.map(({ key }, index) => [key, BigInt(answers[index] ?? '')])),
  }
}
