import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import { hexBetween, hexOf } from '../../../src/protocol/hex.js'
import { pendingRecord, submitted } from '../../../src/server/relay/record.js'
import { createPrivateKey, createRelayerSigner, type RelayerKey } from '../../../src/server/signer/signer.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createReceiptStore } from '../../../src/server/store/receipts.js'
import { Secret } from '../../../src/service/secret.js'
import {
  batchMint,
  digestOf,
  grantedOrder,
  portfolioUpdate,
  signedCall,
} from '../../support/authorizations.js'
import { INTERFACES } from '../../support/chain.js'
import { AAPL, shares } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { type Postgres, startPostgres } from '../../support/postgres.js'
import { ROLES, type Role } from '../../support/roles.js'
import { startTcpProxy } from '../../support/tcpProxy.js'
import { MINT, useMintChain } from './mint.js'
import { mine, receiptOf, soon, stopMining } from './relayUnderTest.js'
import { holders, openShared, type ServerUnderTest, startServerUnderTest } from './serversUnderTest.js'

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
  key?: RelayerKey,
): Promise<ServerUnderTest> =>
  startServerUnderTest({ chain: chain(), url, serverId, env, ...(key && { key }) })

const keyOf = (role: Role) => chain().anvil.accounts[ROLES.indexOf(role)]?.privateKey ?? ''

/** Each is possible whatever becomes of the others. */
const updates = () => chain().anvil.accounts.map(({ address }) => portfolioUpdate(grantedOrder(address)))
const transactionsOf = (role: Role) => chain().provider.getTransactionCount(chain().account(role))
const isSend = ({ method }: { method: string }) => method === 'eth_sendRawTransaction'

function callOf(update: Authorization) {
  const [contract, method, struct, signature] = signedCall(chain(), update)
  const encoded = INTERFACES[contract].encodeFunctionData(method, [struct, signature])
  return { to: chain().addressOf(contract), data: hexBetween(4, 10_000).parse(encoded) }
}

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

  test('refuse what their account cannot pay for, on either', async () => {
    const { holder, other } = await start()
    const relayer = chain().account('relayer')
    const balance = await chain().provider.getBalance(relayer)
    const fund = (wei: bigint) =>
      chain().provider.send('anvil_setBalance', [relayer, `0x${wei.toString(16)}`])
    onTestFinished(() => fund(balance))
    await fund(0n)
    for (const { relay } of [holder, other]) {
      expect((await relay.relay(MINT)).body.code).toBe('relayer-underfunded')
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
    const receipt = receiptOf(await other.relay.relay(MINT))
    expect(receipt).toMatchObject({ status: 'confirmed', txHash: saved?.transactions[0]?.hash })
    expect(await transactionsOf('relayer')).toBe(before + 1)
  })
})

test('a server that is cut off from the database takes nothing on, signs nothing, and sends what is saved', {
  timeout: 60_000,
}, async () => {
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
  const [update] = updates()
  if (update === undefined) throw new Error('the chain has no accounts')
  const refused = await relay.relay(update, { Prefer: 'wait=0' })
  expect([refused.status, refused.body.code]).toEqual([503, 'storage-unavailable'])
  expect(new Set(raws).size).toBe(1)
  proxy.fault = () => 'none'
  link.set('pass')
  link.cut()
  expect(receiptOf(await relay.relay(MINT)).status).toBe('confirmed')
  expect(receiptOf(await relay.relay(update)).status).toBe('confirmed')
})

describe('a server that sleeps while another takes its account', () => {
  /** A server whose key signs on command, and whose lease is lost before that. */
  async function startSleeper({
    signsFreely = 0,
    env = {},
    prepare,
  }: {
    readonly signsFreely?: number
    readonly env?: Record<string, string>
    readonly prepare?: (engine: Engine) => Promise<void>
  }) {
    const url = await postgres.createDatabase()
    await prepare?.(await openShared(url))
    let free = signsFreely
    const key = createPrivateKey(new Secret(hexOf(32).parse(keyOf('relayer'))))
    const gate = Promise.withResolvers<void>()
    let isSigning = false
    const slow: RelayerKey = {
      ...key,
      async signDigest(signed) {
        if (free-- > 0) return key.signDigest(signed)
        isSigning = true
        await gate.promise
        return key.signDigest(signed)
      },
    }
    const sleeper = await startServer(url, 'sleeper', env, slow)
    return {
      sleeper,
      wake: gate.resolve,
      isSigning: () => isSigning,
      async takeOver() {
        sleeper.loseLeases()
        const other = await startServer(url, 'other')
        await soon(() => holders(other.engine)).toEqual({ [chain().account('relayer')]: 'other' })
        return other
      },
      sends: () => sleeper.proxy.requests.flat().filter((method) => method === 'eth_sendRawTransaction'),
    }
  }

  test('sends nothing that it signs afterwards, and its caller has the other’s receipt', async () => {
    const quick = { RELAY_RESUBMIT_AFTER: '300ms' }
    const { sleeper, wake, isSigning, takeOver, sends } = await startSleeper({ signsFreely: 1, env: quick })
    await stopMining(chain())
    const posted = sleeper.relay.relay(MINT)
    // It is about to replace its transaction by one that offers more.
    await soon(isSigning).toBe(true)
    const other = await takeOver()
    const sent = sends().length
    wake()
    await soon(() => sleeper.relay.log.text()).toContain('authorization deferred to the next start')
    expect(sends()).toHaveLength(sent)
    const { txHash } = receiptOf(await other.relay.relay(MINT, { Prefer: 'wait=0' }))
    await mine(chain())
    expect(receiptOf(await posted)).toMatchObject({ status: 'confirmed', txHash })
  })

  test('fills no gap of nonces that the other has given away', async () => {
    const above = await transactionsOf('relayer')
    const [update] = updates()
    if (update === undefined) throw new Error('the chain has no accounts')
    const { wake, isSigning, takeOver, sends } = await startSleeper({
      prepare: async (engine) => {
        const { provider } = chain()
        const call = callOf(update)
        const fees = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const
        const signer = createRelayerSigner(createPrivateKey(new Secret(hexOf(32).parse(keyOf('relayer')))))
        const chainId = Number((await provider.getNetwork()).chainId)
        const nonce = above + 1
        const signed = await signer.sign({ chainId, nonce, ...call, gasLimit: 1_000_000n, fees })
        const { to: target, data } = call
        const { primaryType } = update
        const authorization = { digest: digestOf(chain(), update), primaryType, target, data }
        const purpose = { kind: 'platform' } as const
        const pending = pendingRecord({ ...authorization, purpose }, signer.address)
        const record = submitted(pending, { nonce, ...signed })
        const { logger } = createLogLines()
        const receipts = createReceiptStore({ engine, logger })
        await engine.transact([receipts.toChange(record.receipt.digest, record, 0)])
      },
    })
    await soon(isSigning).toBe(true)
    const other = await takeOver()
    const minted = receiptOf(await other.relay.relay(MINT))
    expect(minted.status).toBe('confirmed')
    expect((await chain().provider.getTransaction(minted.txHash ?? ''))?.nonce).toBe(above)
    const sent = sends().length
    wake()
    await soon(async () => receiptOf(await other.relay.get(digestOf(chain(), update))).status).toBe(
      'confirmed',
    )
    await sleep(500)
    expect(sends()).toHaveLength(sent)
    expect(await transactionsOf('relayer')).toBe(above + 2)
  })
})
