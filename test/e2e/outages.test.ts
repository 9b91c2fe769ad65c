import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ONE_USDC } from '../../src/protocol/units.js'
import { eventually } from '../support/eventually.js'
import { QUICK } from '../support/tradingSandbox.js'
import { craft, openRequest, postOrder } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { chainPid, expectNoBroker, expectNoChain, suspend } from './support/outages.js'
import { brokerOrder } from './support/trader.js'

const SETTINGS = {
  serverSettings: { ...QUICK.server, RPC_TIMEOUT: '1s' },
  enclaveSettings: { RPC_TIMEOUT: '1s', BROKER_TIMEOUT: '1s' },
}
const buy = { side: 'BUY', symbol: 'AAPL', maxSpend: 500n * ONE_USDC } as const
const EVER = ['/health', '/market', '/market/clock']

describe('an outage', () => {
  const desk = useDesk(SETTINGS)
  const get = (path: string) => fetch(desk().sandbox.info.url + path)
  let chain: number

  beforeAll(async () => {
    chain = await chainPid(desk().sandbox)
    const [alice] = desk().traders
    await alice.trade(buy)
    await alice.trade({ ...buy, side: 'SELL' })
    for (const path of ['/enclave-key', ...EVER]) expect((await get(path)).status).toBe(200)
  })
  // Before the invariants are read from it.
  afterEach(() => {
    process.kill(chain, 'SIGCONT')
  })

  it('an outage of the chain loses no order: neither one that comes during it, nor one under way', async () => {
    const { sandbox, traders } = desk()
    const [alice, bob] = traders
    const change = { side: 'WITHDRAW', symbol: 'USDC', maxSpend: 10n * ONE_USDC } as const
    const crafted = await craft(desk(), alice, change)
    const { orderId } = crafted.intent
    await openRequest(desk(), alice, crafted)
    sandbox.broker.fill({ symbol: 'AAPL', mode: 'hold', times: 1 })
    const held = await bob.send(buy)
    await bob.reaches(held, 'placed')

    await suspend(chain)
    await expectNoChain(sandbox, ['/enclave-key', ...EVER])
    const response = await postOrder(desk(), { orderId, ...crafted.envelope })
    expect(response.status).toBe(202)
    expect(await response.json()).toMatchObject({ result: 'received', commit: crafted.commit })
    expect((await get(`/orders/${orderId}`)).status).toBe(503)
    sandbox.broker.release({ symbol: 'AAPL' })
    // It starts and answers without the chain, too.
    await sandbox.server().kill()
    await sandbox.restartServer()
    await expectNoChain(sandbox, ['/health', '/market/clock'])
    const again = await postOrder(desk(), { orderId, ...crafted.envelope })
    expect(await again.json()).toMatchObject({ result: 'already-received', commit: crafted.commit })

    process.kill(chain, 'SIGCONT')
    expect((await alice.ended(orderId)).state).toBe('SETTLED')
    expect((await bob.ended(held)).state).toBe('SETTLED')
  })

  it('an outage of the broker leaves the last prices, marked as stale; an order that comes during it waits for it', async () => {
    const { sandbox, traders } = desk()
    const [, , carol] = traders
    expect((await get('/market')).status).toBe(200)
    sandbox.broker.fault({ drop: 'before', times: 1_000_000 })
    await eventually('the last prices', async () => (await (await get('/market')).json()).stale === true)
    await sandbox.server().stop()
    await sandbox.restartServer()
    await expectNoBroker(sandbox)
    for (const path of ['/health', '/enclave-key', `/wallet/${carol.account.address}`]) {
      expect((await get(path)).status).toBe(200)
    }
    const orderId = await carol.send(buy)
    await carol.reaches(orderId, 'failed')
    expect(brokerOrder(sandbox, orderId)).toBeUndefined()

    sandbox.broker.clear({ what: 'faults' })
    expect((await carol.ended(orderId)).state).toBe('SETTLED')
    await eventually('prices', async () => (await get('/market')).ok && (await get('/market/clock')).ok)
  })
})
