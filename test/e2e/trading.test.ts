import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_SHARE, ONE_USDC, parseDecimal, SHARE_DECIMALS } from '../../src/protocol/units.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { costOf, proceedsOf } from '../support/brokerBooks.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()
const registry = new Interface(institutionRegistryAbi)

/** An order's fill by the broker's own record. */
function fillOf(orderId: `0x${string}`) {
  const order = brokerOrder(desk().sandbox, orderId)
  const qty = parseDecimal(order?.filled_qty ?? '0', SHARE_DECIMALS)
  const price = order?.filled_avg_price ?? '0'
  return { qty, cost: costOf(qty, price), proceeds: proceedsOf(qty, price) }
}

it('an employee buys: the escrow goes to the pool, the shares and what was not spent into the portfolio', async () => {
  const [alice] = desk().traders
  const before = await alice.wallet()
  const status = await alice.trade({ side: 'BUY', symbol: 'AAPL', maxSpend: 1_000n * ONE_USDC })
  expect(status.state).toBe('SETTLED')
  expect(await alice.wallet()).toBe(before - 1_000n * ONE_USDC)
  const { qty, cost } = fillOf(status.orderId)
  const { cash, positions, openOrders } = await alice.portfolio()
  expect(positions.AAPL).toEqual({ qty, locked: 0n })
  expect(cash).toBe(1_000n * ONE_USDC - cost)
  expect(openOrders).toEqual({})
})

it('an employee sells by quantity: the proceeds are cash', async () => {
  const [alice] = desk().traders
  const before = await alice.portfolio()
  const status = await alice.trade({ side: 'SELL', symbol: 'AAPL', maxSpend: 400n * ONE_USDC })
  expect(status).toMatchObject({ state: 'SETTLED', amount: 0n })
  const { qty, proceeds } = fillOf(status.orderId)
  expect(brokerOrder(desk().sandbox, status.orderId)).toMatchObject({ side: 'sell', notional: null })
  const after = await alice.portfolio()
  expect(after.cash).toBe(before.cash + proceeds)
  expect(after.positions.AAPL?.qty).toBe((before.positions.AAPL?.qty ?? 0n) - qty)
})

it('an employee buys out of confidential cash, with nothing escrowed', async () => {
  const [alice] = desk().traders
  const before = await alice.portfolio()
  const order = { side: 'BUY', symbol: 'MSFT', maxSpend: 100n * ONE_USDC, payFrom: 'cash' } as const
  const status = await alice.trade(order)
  expect(status).toMatchObject({ state: 'SETTLED', amount: 0n })
  const { qty, cost } = fillOf(status.orderId)
  const after = await alice.portfolio()
  expect(after.cash).toBe(before.cash - cost)
  expect(after.positions.MSFT?.qty).toBe(qty)
})

it('an employee withdraws cash to the wallet', async () => {
  const [alice] = desk().traders
  const [before, wallet] = [await alice.portfolio(), await alice.wallet()]
  const status = await alice.trade({ side: 'WITHDRAW', symbol: 'USDC', maxSpend: 50n * ONE_USDC })
  expect(status.state).toBe('SETTLED')
  expect(await alice.wallet()).toBe(wallet + 50n * ONE_USDC)
  expect((await alice.portfolio()).cash).toBe(before.cash - 50n * ONE_USDC)
})

it('an employee withdraws shares as tokens, which stay at the broker behind them', async () => {
  const [alice] = desk().traders
  const before = await alice.portfolio()
  const qty = ONE_SHARE / 4n
  const status = await alice.trade({ side: 'WITHDRAW', symbol: 'AAPL', maxSpend: qty })
  expect(status.state).toBe('SETTLED')
  expect(await alice.shares('AAPL')).toBe(qty)
  expect((await alice.portfolio()).positions.AAPL?.qty).toBe((before.positions.AAPL?.qty ?? 0n) - qty)
  // The mint shows no more than the payout does; the rest of the holding waits for a batch.
  expect(await desk().contracts.token.totalSupply(nameToBytes32('AAPL'))).toBe(qty)
  const held = desk()
    .sandbox.broker.accounts()
    .find(({ name }) => name === 'enclave')?.positions.AAPL
  expect(parseDecimal(held ?? '0', SHARE_DECIMALS)).toBeGreaterThan(qty)
})

it('at the broker a partial fill settles what was filled and gives the rest back as cash', async () => {
  const [, bob] = desk().traders
  desk().sandbox.broker.fill({ symbol: 'NVDA', mode: 'partial', fraction: '0.4', times: 1 })
  const orderId = await bob.send({ side: 'BUY', symbol: 'NVDA', maxSpend: 500n * ONE_USDC })
  await bob.reaches(orderId, 'placed')
  desk().sandbox.broker.end({ symbol: 'NVDA', status: 'canceled' })
  expect((await bob.ended(orderId)).state).toBe('SETTLED')
  const { qty, cost } = fillOf(orderId)
  expect(cost).toBeGreaterThan(150n * ONE_USDC)
  expect(cost).toBeLessThan(250n * ONE_USDC)
  const { cash, positions } = await bob.portfolio()
  expect(positions.NVDA).toEqual({ qty, locked: 0n })
  expect(cash).toBe(500n * ONE_USDC - cost)
})

it('at the broker two sales of the same shares at once sell them once', async () => {
  const [, bob] = desk().traders
  const held = (await bob.portfolio()).positions.NVDA?.qty ?? 0n
  const order = { side: 'SELL', symbol: 'NVDA', maxSpend: 1_000n * ONE_USDC } as const
  const [first, second] = [await bob.send(order), await bob.send(order)]
  const ends = [await bob.ended(first), await bob.ended(second)]
  expect(ends.map(({ state }) => state).sort()).toEqual(['REFUNDED', 'SETTLED'])
  expect(fillOf(first).qty + fillOf(second).qty).toBe(held)
  expect((await bob.portfolio()).positions.NVDA?.qty ?? 0n).toBe(0n)
  const refused = ends.find(({ state }) => state === 'REFUNDED')
  expect(refused && (await bob.reason(refused))).toBe('insufficient-shares')
})

it('a removed employee may still sell and withdraw the cash, and may open no buy', async () => {
  const { sandbox, contracts, traders } = desk()
  const [, , carol] = traders
  await carol.trade({ side: 'BUY', symbol: 'MSFT', maxSpend: 2_000n * ONE_USDC })
  const args = [carol.account.address, false]
  const call = { to: contracts.registry.address, abi: registry, method: 'setMember', args }
  await sendAll(sandbox.provider, sandbox.accounts.admin, [call])
  const wallet = await carol.wallet()
  const sale = await carol.trade({ side: 'SELL', symbol: 'MSFT', maxSpend: 3_000n * ONE_USDC })
  expect(sale.state).toBe('SETTLED')
  const { cash, positions } = await carol.portfolio()
  expect(positions.MSFT?.qty ?? 0n).toBe(0n)
  const withdrawal = await carol.trade({ side: 'WITHDRAW', symbol: 'USDC', maxSpend: cash })
  expect(withdrawal.state).toBe('SETTLED')
  expect(await carol.wallet()).toBe(wallet + cash)
  expect((await carol.portfolio()).cash).toBe(0n)
  const buy = carol.send({ side: 'BUY', symbol: 'MSFT', maxSpend: 10n * ONE_USDC })
  await expect(buy).rejects.toMatchObject({ code: 'NotAdmitted' })
})
