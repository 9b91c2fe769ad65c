import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { eventually } from '../support/eventually.js'
import { useDesk } from './support/desk.js'
import { killEnclaves } from './support/enclaveProcesses.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()
const buy = { side: 'BUY', symbol: 'AAPL', maxSpend: 200n * ONE_USDC } as const
const LOOK_UP = { method: 'GET', path: '/v2/orders:by_client_order_id', account: 'enclave' } as const
const LOST_SEND = { method: 'POST', path: '/v2/orders', account: 'enclave', drop: 'before' } as const

/** The broker has exactly one order for it, and the portfolio holds no entry any more. */
async function expectSettledOnce(trader: ReturnType<typeof desk>['traders'][number], orderId: `0x${string}`) {
  const { sandbox } = desk()
  const status = await trader.ended(orderId)
  expect(status.state).toBe('SETTLED')
  expect(status.triggers.length).toBeGreaterThan(1)
  const orders = sandbox.broker.orders().filter((order) => order.id === brokerOrder(sandbox, orderId)?.id)
  expect(orders).toHaveLength(1)
  expect((await trader.portfolio()).openOrders).toEqual({})
}

describe('an enclave that is killed', () => {
  it('after the write-ahead, before the broker heard of the order', async () => {
    const [alice] = desk().traders
    const { sandbox, contracts } = desk()
    const account = accountIdOf(alice.account.address)
    const version = await contracts.ledger.portfolioVersion(account)
    sandbox.broker.fault({ ...LOST_SEND, delayMs: 10_000, times: 1 })
    const orderId = await alice.send(buy)
    await eventually(
      'the write-ahead',
      async () => (await contracts.ledger.portfolioVersion(account)) > version,
    )
    expect(brokerOrder(sandbox, orderId)).toBeUndefined()
    expect(await killEnclaves(sandbox)).toBe(1)
    sandbox.broker.clear({ what: 'faults' })
    await expectSettledOnce(alice, orderId)
  })

  it('after placing, before it heard so', async () => {
    const [alice] = desk().traders
    const { sandbox } = desk()
    sandbox.broker.fill({ symbol: 'AAPL', mode: 'hold', times: 1 })
    const orderId = await alice.send(buy)
    await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
    expect(await killEnclaves(sandbox)).toBe(1)
    sandbox.broker.release({ symbol: 'AAPL' })
    await expectSettledOnce(alice, orderId)
  })

  it('after the fill, before settling', async () => {
    const [, bob] = desk().traders
    const { sandbox } = desk()
    sandbox.broker.fill({ symbol: 'AAPL', mode: 'hold', times: 1 })
    const orderId = await bob.send(buy)
    await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
    sandbox.broker.fault({ ...LOOK_UP, delayMs: 10_000 })
    sandbox.broker.release({ symbol: 'AAPL' })
    expect(brokerOrder(sandbox, orderId)?.status).toBe('filled')
    expect(await killEnclaves(sandbox)).toBe(1)
    sandbox.broker.clear({ what: 'faults' })
    await expectSettledOnce(bob, orderId)
  })
})

describe('a broker whose answer is lost', () => {
  it('after it placed the order: it is found by its id, never placed again, never refunded before', async () => {
    const [, , carol] = desk().traders
    const { sandbox } = desk()
    sandbox.broker.fault({ method: 'POST', path: '/v2/orders', drop: 'after', times: 1 })
    const status = await carol.trade(buy)
    expect(status.state).toBe('SETTLED')
    const sent = sandbox.broker
      .orders()
      .filter(({ client_order_id: id }) => id === status.orderId.slice(2, 34))
    expect(sent).toHaveLength(1)
  })
})

describe('a server', () => {
  it('that is killed goes on with every order when it starts again', async () => {
    const [, , carol] = desk().traders
    const { sandbox } = desk()
    sandbox.broker.fill({ symbol: 'MSFT', mode: 'hold', times: 1 })
    const orderId = await carol.send({ ...buy, symbol: 'MSFT' })
    await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
    await sandbox.server().kill()
    sandbox.broker.release({ symbol: 'MSFT' })
    await sandbox.restartServer()
    expect((await carol.ended(orderId)).state).toBe('SETTLED')
  })

  it('that starts with an emptied DATA_DIR settles what is live at the broker', async () => {
    const { sandbox, traders } = desk()
    sandbox.broker.fill({ symbol: 'NVDA', mode: 'hold', times: 3 })
    const sent = await Promise.all(traders.map((trader) => trader.send({ ...buy, symbol: 'NVDA' })))
    await Promise.all(traders.map((trader, index) => trader.reaches(sent[index] ?? '0x', 'placed')))
    await sandbox.server().stop()
    await rm(join(sandbox.directory, 'server'), { recursive: true })
    sandbox.broker.release({ symbol: 'NVDA' })
    await sandbox.restartServer()
    for (const [index, trader] of traders.entries()) {
      const status = await trader.ended(sent[index] ?? '0x')
      expect(status).toMatchObject({ state: 'SETTLED', receivedAt: null })
      expect((await trader.portfolio()).positions.NVDA?.qty).toBeGreaterThan(0n)
    }
  })
})
