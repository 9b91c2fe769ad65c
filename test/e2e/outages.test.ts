// Chain or broker are down: /health answers, routes that need them answer 503, and everything goes on by itself afterwards.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { receiptSchema } from '../../src/protocol/api.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { startSandbox } from '../../src/sandbox/sandbox.js'
import { INSTITUTION } from '../../src/sandbox/settings.js'
import { eventually } from '../support/eventually.js'
import { storedRows } from '../support/storedRows.js'
import { QUICK } from '../support/tradingSandbox.js'
import { craft, craftRulebook, openRequest, postOrder } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { chainPid, expectNoBroker, expectNoChain, suspend } from './support/outages.js'
import { problemAt } from './support/problems.js'
import { brokerOrder } from './support/trader.js'

const SETTINGS = {
  serverSettings: { ...QUICK.server, RPC_TIMEOUT: '1s' },
  enclaveSettings: { RPC_TIMEOUT: '1s', BROKER_TIMEOUT: '1s' },
}
const buy = { side: 'BUY', symbol: 'AAPL', maxSpend: 500n * ONE_USDC } as const
const relaySchema = z.object({ receipt: receiptSchema })
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

  it('of the chain loses no order: neither one that comes during it, nor one under way', async () => {
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

  it('of the broker leaves the last prices, marked as stale; an order that comes during it waits for it', async () => {
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

  it('of the chain refuses a rulebook, and hides a receipt that it cannot check', async () => {
    const { sandbox } = desk()
    const { url } = sandbox.info
    // The first one: the job of a recent one may be in memory still, and tell its receipt without the chain.
    const relayed = storedRows(join(sandbox.directory, 'server'), 'relays')
      .filter(({ is_open }) => is_open === 0)
      .map(({ doc }) => relaySchema.parse(JSON.parse(doc)).receipt)
    const digest = relayed.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))[0]?.digest
    const headers = { authorization: `Bearer ${sandbox.secrets.relayAuthToken}` }
    // A busy node may need more than the second that it has.
    const shown = () =>
      eventually('the receipt', async () => (await fetch(`${url}/relay/${digest}`, { headers })).ok)
    await shown()
    const rulebook = {
      method: 'POST',
      path: '/policy',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(await craftRulebook(desk(), 2)),
    }

    await suspend(chain)
    const receipt = await problemAt(url, { method: 'GET', path: `/relay/${digest}`, headers })
    expect(receipt.code).toBe('chain-unavailable')
    expect(await problemAt(url, rulebook)).toMatchObject({ status: 503, code: 'chain-unavailable' })

    process.kill(chain, 'SIGCONT')
    await shown()
    // Server and enclave each find out by themselves that the chain is back.
    const published = await eventually('the rulebook', async () => {
      const response = await fetch(url + rulebook.path, rulebook)
      return response.ok && response
    })
    expect(await published.json()).toEqual({ orgId: nameToBytes32(INSTITUTION), version: 2 })
  })
})

describe('a chain that is gone', () => {
  it('takes nothing else with it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'outage-'))
    const ports = { server: 0, rpc: 0, broker: 0 }
    const sandbox = await startSandbox({ ...SETTINGS, directory, ports, print: () => undefined })
    onTestFinished(async () => {
      await sandbox.stop()
      await rm(directory, { recursive: true })
    })
    for (const path of ['/enclave-key', ...EVER]) await fetch(sandbox.info.url + path)
    const { pid } = sandbox.server()
    process.kill(await chainPid(sandbox), 'SIGKILL')
    await eventually('the end of the chain', () =>
      fetch(sandbox.info.rpcUrl).then(
        () => false,
        () => true,
      ),
    )
    await expectNoChain(sandbox, ['/enclave-key', ...EVER])
    expect(sandbox.server().pid).toBe(pid)
  })
})
