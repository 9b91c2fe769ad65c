import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ONE_USDC } from '../../src/protocol/units.js'
import { useDesk } from './support/desk.js'

const desk = useDesk()
const buy = { side: 'BUY', symbol: 'AAPL', maxSpend: 200n * ONE_USDC } as const

it('a broker whose answer is lost after it placed the order: it is found by its id, never placed again, never refunded before', async () => {
  const [, , carol] = desk().traders
  const { sandbox } = desk()
  sandbox.broker.fault({ method: 'POST', path: '/v2/orders', drop: 'after', times: 1 })
  const status = await carol.trade(buy)
  expect(status.state).toBe('SETTLED')
  const sent = sandbox.broker.orders().filter(({ client_order_id: id }) => id === status.orderId.slice(2, 34))
  expect(sent).toHaveLength(1)
})

it('a server that starts with an emptied DATA_DIR settles what is live at the broker', async () => {
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
