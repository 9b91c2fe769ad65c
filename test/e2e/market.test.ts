import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { guideOf } from '../../src/sandbox/guide.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()
const escrow = new Interface(orderEscrowAbi)
const EIGHT_DAYS = 8 * 24 * 3_600

it('a market that is closed queues the order until it opens', async () => {
  const [alice] = desk().traders
  const { broker } = desk().sandbox
  const nextOpen = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000)
  broker.clock({ open: false, nextOpen: nextOpen.toISOString() })
  const orderId = await alice.send({
    side: 'BUY',
    symbol: 'AAPL',
    maxSpend: 500n * ONE_USDC,
    deadline: await in2Hours(),
  })
  const queued = await alice.reaches(orderId, 'queued')
  expect(queued.state).toBe('OPEN')
  expect(queued.triggers.at(-1)).toMatchObject({ waitsFor: 'market-closed' })
  const afterOpeningMs = Date.parse(queued.nextTriggerAt ?? '') - nextOpen.getTime()
  expect(afterOpeningMs).toBeGreaterThanOrEqual(0)
  expect(afterOpeningMs).toBeLessThanOrEqual(3_000)
  expect(brokerOrder(desk().sandbox, orderId)).toBeUndefined()
  expect(Object.keys((await alice.portfolio()).openOrders)).toEqual([orderId])
})

it('the printed commands close the market, and open it an hour before its announced time: a queued order settles', async () => {
  const [alice] = desk().traders
  const [close, open] = guideOf(desk().sandbox).filter((line) => line.includes('/sandbox/clock'))
  await type(close)
  const before = (await alice.portfolio()).positions.MSFT?.qty ?? 0n
  const deadline = await in2Hours()
  const orderId = await alice.send({ side: 'BUY', symbol: 'MSFT', maxSpend: 400n * ONE_USDC, deadline })
  const queued = await alice.reaches(orderId, 'queued')
  expect(Date.parse(queued.nextTriggerAt ?? '')).toBeGreaterThan(Date.now() + 1_800_000)
  await type(open)
  expect((await alice.ended(orderId)).state).toBe('SETTLED')
  expect((await alice.portfolio()).positions.MSFT?.qty ?? 0n).toBeGreaterThan(before)
})

// Time on the chain runs ahead from here on: these come last.
it('an order that meets its deadline is cancelled at the broker, and its USDC comes back', async () => {
  const [, bob] = desk().traders
  const before = await bob.wallet()
  desk().sandbox.broker.fill({ symbol: 'MSFT', mode: 'hold', times: 1 })
  const deadline = await in2Hours()
  const orderId = await bob.send({ side: 'BUY', symbol: 'MSFT', maxSpend: 300n * ONE_USDC, deadline })
  await bob.reaches(orderId, 'placed')
  await warp(7_200)
  const status = await bob.ended(orderId)
  expect(status.state).toBe('REFUNDED')
  expect(await bob.wallet()).toBe(before)
  expect(brokerOrder(desk().sandbox, orderId)?.status).toBe('canceled')
  expect(await bob.reason(status)).toBe('deadline-passed')
  expect((await bob.portfolio()).openOrders).toEqual({})
})

it('an order that the enclave never answered and was live at the broker: its sale before the reclaim still reaches the portfolio', async () => {
  const [, , carol] = desk().traders
  const { sandbox } = desk()
  sandbox.broker.clock({ open: true })
  await carol.trade({ side: 'BUY', symbol: 'AAPL', maxSpend: 500n * ONE_USDC })
  const before = await carol.portfolio()
  sandbox.broker.fill({ symbol: 'AAPL', mode: 'hold', times: 1 })
  const orderId = await carol.send({ side: 'SELL', symbol: 'AAPL', maxSpend: 100n * ONE_USDC })
  await carol.reaches(orderId, 'placed')
  await sandbox.server().stop()
  sandbox.broker.release({ symbol: 'AAPL' })
  await warp(EIGHT_DAYS)
  // The server is down, which is when one reclaims: the chain alone is asked.
  const call = { to: desk().contracts.escrow.address, abi: escrow, method: 'reclaim', args: [orderId] }
  await sendAll(sandbox.provider, carol.account, [call])
  await sandbox.restartServer()
  await eventually('the sale is in the portfolio', async () => (await carol.portfolio()).cash > before.cash)
  const after = await carol.portfolio()
  expect(after.openOrders).toEqual({})
  expect(after.positions.AAPL?.locked).toBe(0n)
  await expect
    .poll(async () => (await carol.client.getOrder(orderId)).state, { timeout: 30_000 })
    .toBe('REFUNDED')
})

/** Runs a command as a person pastes it. */
async function type(command = ''): Promise<void> {
  await promisify(execFile)('sh', ['-ec', command])
}

async function in2Hours(): Promise<number> {
  return (await desk().chainTime()) + 7_200
}

async function warp(seconds: number): Promise<void> {
  const target = (await desk().chainTime()) + seconds
  await desk().sandbox.provider.send('evm_increaseTime', [seconds])
  await eventually('the chain mines at the new time', async () => (await desk().chainTime()) >= target)
}
