import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hexOf } from '../../../src/protocol/hex.js'
import { createPrivateSigner, type RelayerSigner } from '../../../src/server/signer/signer.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import { Secret } from '../../../src/service/secret.js'
import { grantedOrder, portfolioUpdate } from '../../support/authorizations.js'
import { createLogLines } from '../../support/logLines.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { ROLES } from '../../support/roles.js'
import { startTcpProxy } from '../../support/tcpProxy.js'
import { MINT, mine, minedOfRelayer, receiptOf, soon, stopMining, useMintChain } from './relayUnderTest.js'
import { openShared, startServerUnderTest } from './serversUnderTest.js'

const { chain, digest } = useMintChain()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

const startServer = (
  url: Secret,
  serverId: string,
  env: Record<string, string> = {},
  signer?: RelayerSigner,
) => startServerUnderTest({ chain: chain(), url, serverId, env, ...(signer && { signer }) })

/** Which of the servers has the relayer's account. */
async function holderOf({ leases }: Engine): Promise<string | undefined> {
  const held = (await leases.list()).filter(({ expiresInMs }) => expiresInMs > 0)
  return held.find(({ lease }) => lease === `relayer:${chain().account('relayer')}`)?.holder
}

const update = () => portfolioUpdate(grantedOrder(chain().account('dave')))
const isSend = ({ method }: { method: string }) => method === 'eth_sendRawTransaction'

describe('two servers with one account', () => {
  async function start(env: Record<string, string> = {}) {
    const url = await postgres.createDatabase()
    const holder = await startServer(url, 'one', env)
    await soon(() => holderOf(holder.engine)).toBe('one')
    const other = await startServer(url, 'other', env)
    return { holder, other, url }
  }

  test('relay what either is asked for, once', async () => {
    const { holder, other } = await start()
    const before = await minedOfRelayer(chain())
    const [here, there] = await Promise.all([holder.relay.relay(MINT), other.relay.relay(MINT)])
    expect([here?.status, there?.status]).toEqual([200, 200])
    expect(receiptOf(here)).toEqual(receiptOf(there))
    const alone = await other.relay.relay(update())
    expect(receiptOf(alone).status).toBe('confirmed')
    expect(await minedOfRelayer(chain())).toBe(before + 2)
    expect(receiptOf(await holder.relay.get(receiptOf(alone).digest))).toEqual(receiptOf(alone))
    expect(receiptOf(await other.relay.relay(MINT))).toEqual(receiptOf(here))
    expect(await minedOfRelayer(chain())).toBe(before + 2)
  })

  test('a server that dies between saving and sending leaves its bytes to its successor', async () => {
    const { holder, other, url } = await start()
    holder.proxy.fault = (calls) => (calls.some(isSend) ? 'drop' : 'none')
    const before = await minedOfRelayer(chain())
    const posted = await holder.relay.relay(MINT, { Prefer: 'wait=0' })
    expect(posted.status).toBe(202)
    const store = createReceiptStore({ engine: await openShared(url), logger: createLogLines().logger })
    await soon(async () => (await store.get(digest()))?.transactions.length).toBe(1)
    const saved = await store.get(digest())
    holder.die()
    const receipt = receiptOf(await other.relay.relay(MINT))
    expect(receipt).toMatchObject({ status: 'confirmed', txHash: saved?.transactions[0]?.hash })
    expect(await minedOfRelayer(chain())).toBe(before + 1)
  })
})

test('a server that is cut off from the database takes nothing on, signs nothing, and sends what is saved', async () => {
  const link = await startTcpProxy(postgres.port)
  onTestFinished(link.stop)
  const { relay, proxy } = await startServer(await postgres.createDatabase(link.port), 'one', {
    RELAY_RESUBMIT_AFTER: '300ms',
  })
  const raws: string[] = []
  const dropped = (calls: readonly { method: string; params: readonly unknown[] }[]) => {
    raws.push(...calls.filter(isSend).map(({ params }) => String(params[0])))
    return calls.some(isSend) ? 'drop' : 'none'
  }
  proxy.fault = dropped
  expect((await relay.relay(MINT, { Prefer: 'wait=0' })).status).toBe(202)
  await soon(() => new Set(raws).size).toBe(1)
  link.set('hang')
  const refused = await relay.relay(update(), { Prefer: 'wait=0' })
  expect([refused.status, refused.body.code]).toEqual([503, 'storage-unavailable'])
  expect(new Set(raws).size).toBe(1)
  proxy.fault = () => 'none'
  link.set('pass')
  link.cut()
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
  expect(receiptOf(await relay.relay(update())).status).toBe('confirmed')
})

test('a server that sleeps while another takes its account sends nothing that it signs afterwards, and its caller has the other’s receipt', async () => {
  const url = await postgres.createDatabase()
  const privateKey = chain().anvil.accounts[ROLES.indexOf('relayer')]?.privateKey
  const signer = createPrivateSigner(new Secret(hexOf(32).parse(privateKey)))
  const gate = Promise.withResolvers<void>()
  let signed = 0
  const slow: RelayerSigner = {
    ...signer,
    async sign(transaction) {
      if (signed++ > 0) await gate.promise
      return signer.sign(transaction)
    },
  }
  const sleeper = await startServer(url, 'sleeper', { RELAY_RESUBMIT_AFTER: '300ms' }, slow)
  const sends = () => sleeper.proxy.requests.flat().filter((method) => method === 'eth_sendRawTransaction')
  await stopMining(chain())
  const posted = sleeper.relay.relay(MINT)
  // It is about to replace its transaction by one that offers more.
  await soon(() => signed).toBe(2)
  sleeper.loseLeases()
  const other = await startServer(url, 'other')
  await soon(() => holderOf(other.engine)).toBe('other')
  const sent = sends().length
  gate.resolve()
  await soon(() => sleeper.relay.log.text()).toContain('authorization deferred to the next start')
  expect(sends()).toHaveLength(sent)
  const { txHash } = receiptOf(await other.relay.relay(MINT, { Prefer: 'wait=0' }))
  await mine(chain())
  expect(receiptOf(await posted)).toMatchObject({ status: 'confirmed', txHash })
})
