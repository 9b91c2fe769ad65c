// Several servers on one PostgreSQL: any of them takes authorizations, and each account belongs to one of them.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../src/sandbox/postgres.js'
import type { Secret } from '../../../src/server/secret.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import { storageError } from '../../../src/server/store/storageError.js'
import { batchMint, digestOf, grantedOrder, portfolioUpdate } from '../../support/authorizations.js'
import { type FaultProxy, startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, shares } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { ROLES, type Role } from '../../support/roles.js'
import { MINT, useMintChain } from './mint.js'
import { type RelayUnderTest, receiptOf, soon, startRelay, stopMining } from './relayUnderTest.js'

const { chain, digest } = useMintChain()

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

const TTL_MS = 1_000

interface ServerUnderTest {
  readonly relay: RelayUnderTest
  readonly engine: Engine
  readonly proxy: FaultProxy
  /** From now on it reaches neither the store nor the chain, as a server that was killed. */
  die(): void
}

const keyOf = (role: Role) => chain().anvil.accounts[ROLES.indexOf(role)]?.privateKey ?? ''

async function openShared(url: Secret): Promise<Engine> {
  const engine = await openPostgres(createDatabases(url))
  onTestFinished(() => engine.stop())
  return engine
}

/** Each call fails from the moment on at which its server has died. */
function mortal(engine: Engine) {
  const life = { isOver: false }
  const living = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A) => {
      if (life.isOver) throw storageError('DEAD')
      const result = await call(...args)
      if (life.isOver) throw storageError('DEAD')
      return result
    }
  }
  const { leases } = engine
  return {
    life,
    engine: {
      ...engine,
      get: living(engine.get),
      open: living(engine.open),
      openWithKey: living(engine.openWithKey),
      put: living(engine.put),
      leases: {
        take: living(leases.take),
        renew: living(leases.renew),
        release: living(leases.release),
        list: living(leases.list),
      },
    },
  }
}

async function startServer(
  url: Secret,
  serverId: string,
  env: Record<string, string> = {},
): Promise<ServerUnderTest> {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { life, engine } = mortal(await openShared(url))
  const relay = await startRelay({
    chain: chain(),
    dataDir: 'none',
    engine,
    serverId,
    rpcUrl: proxy.url,
    env: { LEASE_TTL: `${TTL_MS}ms`, ...env },
  })
  const die = () => {
    life.isOver = true
    proxy.fault = () => 'drop'
  }
  return { relay, engine, proxy, die }
}

/** Relayer accounts by the server that holds them. */
async function holders(engine: Engine): Promise<Record<string, string>> {
  const leases = await engine.leases.list()
  const held = leases.filter(({ lease, expiresInMs }) => lease.startsWith('relayer:') && expiresInMs > 0)
  return Object.fromEntries(held.map(({ lease, holder }) => [lease.slice('relayer:'.length), holder]))
}

/** Each is possible whatever becomes of the others. */
const updates = () => chain().anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address)))
const transactionsOf = (role: Role) => chain().provider.getTransactionCount(chain().account(role))
const isSend = ({ method }: { method: string }) => method === 'eth_sendRawTransaction'

describe('two servers with one account', () => {
  async function start(env: Record<string, string> = {}) {
    const url = await postgres.createDatabase()
    const holder = await startServer(url, 'one', env)
    const relayer = chain().account('relayer')
    await soon(() => holders(holder.engine)).toEqual({ [relayer]: 'one' })
    const other = await startServer(url, 'other', env)
    return { holder, other, url }
  }

  test('relay what either is asked for, once', async () => {
    const { holder, other } = await start()
    const before = await transactionsOf('relayer')
    const [here, there] = await Promise.all([holder.relay.relay(MINT), other.relay.relay(MINT)])
    expect([here?.status, there?.status]).toEqual([200, 200])
    expect(receiptOf(here)).toEqual(receiptOf(there))
    const [update] = updates()
    if (update === undefined) throw new Error('the chain has no accounts')
    const alone = await other.relay.relay(update)
    expect(receiptOf(alone).status).toBe('confirmed')
    expect(await transactionsOf('relayer')).toBe(before + 2)
    expect(receiptOf(await holder.relay.get(receiptOf(alone).digest))).toEqual(receiptOf(alone))
    expect(receiptOf(await other.relay.relay(MINT))).toEqual(receiptOf(here))
    expect(await transactionsOf('relayer')).toBe(before + 2)
  })

  test('refuse what would revert before it is stored, on either', async () => {
    const { holder, other } = await start()
    const mint = batchMint(AAPL, shares(5), { expectedSupply: 7n })
    for (const { relay } of [holder, other]) {
      expect((await relay.relay(mint)).body.code).toBe('would-revert')
      expect((await relay.get(digestOf(chain(), mint))).status).toBe(404)
    }
  })

  test('a server that dies between saving and sending leaves its bytes to its successor', async () => {
    const { holder, other, url } = await start()
    holder.proxy.fault = (calls) => (calls.some(isSend) ? 'drop' : 'none')
    const before = await transactionsOf('relayer')
    const posted = await holder.relay.relay(MINT, { Prefer: 'wait=0' })
    expect(posted.status).toBe(202)
    const store = createReceiptStore({ engine: await openShared(url), logger: createLogLines().logger })
    await soon(async () => (await store.get(digest()))?.transactions.length).toBe(1)
    const saved = await store.get(digest())
    holder.die()
    const diedAt = performance.now()
    const receipt = receiptOf(await other.relay.relay(MINT))
    expect(receipt).toMatchObject({ status: 'confirmed', txHash: saved?.transactions[0]?.hash })
    expect(performance.now() - diedAt).toBeLessThan(TTL_MS + 5_000)
    expect(await transactionsOf('relayer')).toBe(before + 1)
  })
})

describe('two servers with two accounts', () => {
  const both = () => ({
    RELAYER_PRIVATE_KEY: '',
    RELAYER_PRIVATE_KEYS: `${keyOf('relayer')},${keyOf('dave')}`,
  })
  const accounts = () => [chain().account('relayer'), chain().account('dave')].toSorted()

  async function start(env: Record<string, string> = {}) {
    const url = await postgres.createDatabase()
    const one = await startServer(url, 'one', { ...both(), ...env })
    await soon(async () => Object.keys(await holders(one.engine)).toSorted()).toEqual(accounts())
    const other = await startServer(url, 'other', { ...both(), ...env })
    const watcher = await openShared(url)
    await soon(async () => Object.values(await holders(watcher)).toSorted()).toEqual(['one', 'other'])
    return { one, other, watcher }
  }

  test('share them evenly, and one that dies leaves both to the other', async () => {
    const { one, other, watcher } = await start()
    const before = (await transactionsOf('relayer')) + (await transactionsOf('dave'))
    const [last, ...first] = updates()
    if (last === undefined) throw new Error('the chain has no accounts')
    const answers = await Promise.all(
      first.map((each, index) => (index % 2 === 0 ? one : other).relay.relay(each)),
    )
    expect(answers.map((answer) => receiptOf(answer).status)).toEqual(answers.map(() => 'confirmed'))
    expect((await transactionsOf('relayer')) + (await transactionsOf('dave'))).toBe(before + first.length)
    one.die()
    await soon(() => holders(watcher)).toEqual(Object.fromEntries(accounts().map((each) => [each, 'other'])))
    expect(receiptOf(await other.relay.relay(last)).status).toBe('confirmed')
  })

  test('relay an authorization once that comes to both at once', async () => {
    const { one, other } = await start()
    const before = (await transactionsOf('relayer')) + (await transactionsOf('dave'))
    for (const update of updates()) {
      const answers = await Promise.all([one, other].map(({ relay }) => relay.relay(update)))
      const [here, there] = answers.map((answer) => receiptOf(answer))
      expect(here?.status).toBe('confirmed')
      expect(here?.txHash).toBe(there?.txHash)
    }
    expect((await transactionsOf('relayer')) + (await transactionsOf('dave'))).toBe(before + updates().length)
  })

  test('keep to one total of gas a day', async () => {
    const perDay = 2_500_000n
    const env = { RELAY_DAILY_GAS: String(perDay), RELAY_RESERVE_PERCENT: '1' }
    const { one, other } = await start(env)
    await stopMining(chain())
    const answers = await Promise.all(
      updates().map((each, index) => (index % 2 === 0 ? one : other).relay.relay(each, { Prefer: 'wait=0' })),
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.map(({ body }) => body.code)).toEqual(refused.map(() => 'relay-budget-exhausted'))
    const taken = answers.filter(({ status }) => status === 202).map((answer) => receiptOf(answer).txHash)
    const limits = await Promise.all(
      taken.map(async (hash) => (await chain().provider.getTransaction(hash ?? ''))?.gasLimit ?? 0n),
    )
    expect(taken.length + refused.length).toBe(answers.length)
    expect(taken.length).toBeGreaterThan(1)
    // Each has its mark and its end booked with it.
    expect(limits.reduce((sum, gas) => sum + 3n * gas + 120_000n, 0n)).toBeLessThanOrEqual(perDay)
  })
})
