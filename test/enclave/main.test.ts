import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { clientOrderIdOf } from '../../src/protocol/identifiers.js'
import {
  type Job,
  type PostedResult,
  type ProvisionalResult,
  postedResultSchema,
  provisionalResultSchema,
  RESTARTED,
} from '../../src/protocol/job.js'
import { brokerOf, ENCLAVE_ACCOUNT, usd } from '../support/brokerStandIn.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { type Program, startProgram } from '../support/program.js'
import { startRawServer } from '../support/rawServer.js'
import { offer, orderJob } from '../support/residentHarness.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { enclaveEnvironment } from './support/environment.js'
import type { OpenedOrder, Wish } from './support/parties.js'
import { useWorld } from './support/world.js'

const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }

const world = useWorld()

function settings(): Record<string, string> {
  const { chain, broker, relay } = world()
  return {
    ...enclaveEnvironment,
    ALPACA_KEY_ID: ENCLAVE_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: ENCLAVE_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: broker.url,
    ALPACA_DATA_URL: broker.url,
    RPC_URL: chain.anvil.rpcUrl,
    INSTITUTION_REGISTRY_ADDRESS: chain.addresses.institutionRegistry,
    ORDER_ESCROW_ADDRESS: chain.addresses.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: chain.addresses.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: chain.addresses.equityToken,
    PLATFORM_POOL_ADDRESS: chain.addresses.platformPool,
    RELAY_URL: relay.url,
    CONFIRM_POLL_INTERVAL: '50ms',
    FILL_WAIT: '300ms',
  }
}

/** A module that throws beside everything that the program does. */
const THROWS_ON_SIGUSR2 = `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2',()=>{throw new Error(['can','ary'].join(''))})")}`

/** Starts the program with these variables in its configuration. */
async function start(
  args: readonly string[],
  variables: Record<string, string>,
  env: Record<string, string> = {},
): Promise<Program> {
  const envFile = join(await temporaryDirectory(), '.env.enclave')
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  await writeFile(envFile, lines.join('\n'), { mode: 0o600 })
  return startProgram(built('enclave/main.js'), args, { env: { ...env, ENCLAVE_ENV_FILE: envFile } })
}

/** A server that takes notices and results, and hands the rest to the relay of the test. */
async function startServer() {
  const notices = new Map<string, ProvisionalResult>()
  const results = new Map<string, PostedResult>()
  const url = await startRawServer((req, res) => {
    const [, runId, kind] = /^\/runs\/([0-9a-f-]{36})\/(notice|result)$/.exec(req.url ?? '') ?? []
    if (runId === undefined) {
      const { method, headers } = req
      const onward = request(world().relay.url + req.url, { method, headers })
      onward.on('response', (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 502)))
      onward.on('error', () => res.destroy())
      return void req.pipe(onward)
    }
    void buffer(req).then((bytes) => {
      const body: unknown = JSON.parse(bytes.toString('utf8'))
      if (kind === 'notice') notices.set(runId, provisionalResultSchema.parse(body))
      else results.set(runId, postedResultSchema.parse(body))
      res.end(JSON.stringify({ runId, result: 'received' }))
    })
  })
  const resultOf = (runId: string) => eventually('the result', () => results.get(runId), 60_000)
  return { url, notices, resultOf }
}

/** A server, and the enclave that stays up beside it: started again with the same directory as often as the test likes. */
async function setUp(changes: Record<string, string> = {}) {
  const server = await startServer()
  const stateDirectory = await temporaryDirectory()
  const serve = async (env: Record<string, string> = {}) => {
    const given = {
      ...settings(),
      RELAY_URL: server.url,
      ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
      ENCLAVE_LISTEN: '127.0.0.1:0',
      ENCLAVE_STATE_DIR: stateDirectory,
      ...changes,
    }
    const program = await start(['serve'], given, env)
    const port = await eventually('the enclave', () => /"port":(\d+)/.exec(program.err())?.[1], 20_000)
    return { program, url: `http://127.0.0.1:${port}` }
  }
  return { ...server, serve }
}

/** Without the envelope: the enclave already holds the order. */
async function jobOf({ orderId, envelope }: OpenedOrder, isHeld = false): Promise<Job> {
  const { runId, stopAt } = await orderJob({ orderId, seconds: 120 })
  return { job: 'order', runId, stopAt, orderId, ...(!isHeld && { envelope }) }
}

async function take(url: string, job: Job): Promise<string> {
  expect((await offer(url, job)).status).toBe(202)
  return job.runId
}

describe('the enclave process', { timeout: 120_000 }, () => {
  it('settles an order and stops on SIGTERM, having printed nothing of the order', async () => {
    const order = await world().open(buy)
    const { serve, resultOf } = await setUp()
    const { program, url } = await serve()
    const runId = await take(url, await jobOf(order))
    expect(await resultOf(runId)).toMatchObject({ outcome: 'settled' })
    program.child.kill('SIGTERM')
    expect(await program.exit).toBe(0)
    expect(program.out()).toBe('')
    for (const secret of ['AAPL', order.envelope.ct.slice(2), order.orderId])
      expect(program.err()).not.toContain(secret)
    await world().checkInvariants()
  })

  it('posts why a rulebook is rejected', async () => {
    const { envelope } = await world().open(buy)
    const { serve, resultOf } = await setUp()
    const { url } = await serve()
    const { runId, stopAt } = await orderJob({ seconds: 120 })
    await take(url, { job: 'policy', runId, stopAt, envelope })
    expect(await resultOf(runId)).toMatchObject({ outcome: 'rejected', code: 'undecryptable' })
  })

  it('posts a failure when no node can be reached', async () => {
    const order = await world().open(buy)
    const { serve, resultOf } = await setUp({ RPC_URL: 'http://127.0.0.1:1' })
    const { url } = await serve()
    const runId = await take(url, await jobOf(order))
    expect(await resultOf(runId)).toMatchObject({ outcome: 'failed', code: 'chain-unavailable' })
  })

  it('takes no further job after an uncaught exception, lets its run end, and exits 1', async () => {
    const order = await world().open(buy)
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const { serve, resultOf } = await setUp({ FILL_WAIT: '1m' })
    const { program, url } = await serve({ NODE_OPTIONS: THROWS_ON_SIGUSR2 })
    const runId = await take(url, await jobOf(order))
    await eventually('the order is at the broker', () => world().broker.control.orders().length === 1, 60_000)
    program.child.kill('SIGUSR2')
    await eventually('no listener', () =>
      fetch(`${url}/health`).then(
        () => false,
        () => true,
      ),
    )
    world().broker.control.release({ symbol: 'AAPL' })
    expect(await resultOf(runId)).toMatchObject({ outcome: 'settled' })
    expect(await program.exit).toBe(1)
    expect(program.err()).toContain('uncaught failure')
    expect(program.err()).not.toContain('canary')
    await world().checkInvariants()
  })

  it('exits 1 and names the faults of its configuration', async () => {
    const program = await start(['serve'], { ...settings(), LEDGER_MASTER_KEY: 'canary', RELAY_URL: '' })
    expect(await program.exit).toBe(1)
    expect(program.err()).toBe('LEDGER_MASTER_KEY: expected 0x and 64 hex digits\nRELAY_URL: is missing\n')
  })

  it('starts while another deployment trades with its account, says so, and takes no order', async () => {
    const trader = brokerOf(world().broker.url)
    const clientOrderId = clientOrderIdOf(`0x${'5e'.repeat(32)}`)
    await trader.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId })
    const order = await world().open(buy)
    const { serve, resultOf } = await setUp()
    const { program, url } = await serve()
    await eventually('a line in the log', () => program.err().includes('broker account shared'))
    expect(program.err()).not.toContain(clientOrderId)
    const runId = await take(url, await jobOf(order))
    expect(await resultOf(runId)).toMatchObject({ outcome: 'failed', code: 'broker-shared' })
  })

  it('exits 1 without a command, and says which there are', async () => {
    const program = await start([], settings())
    expect(await program.exit).toBe(1)
    expect(program.err()).toBe('usage: main.js serve | --check | --hash\n')
  })
})

describe('the enclave’s check of its configuration', () => {
  it('exits 0 without a word when there is no fault, without calling a node', async () => {
    const nobody = { ...settings(), RPC_URL: 'http://127.0.0.1:1', RELAY_URL: 'http://127.0.0.1:1' }
    const program = await start(['--check'], nobody)
    expect(await program.exit).toBe(0)
    expect(program.out() + program.err()).toBe('')
  })

  it('exits 1 for what would let others read along, or undo what the enclave acts on', async () => {
    const program = await start(['--check'], { ...settings(), RPC_URL: 'http://node.example' })
    expect(await program.exit).toBe(1)
    expect(program.err()).toMatch(/^RPC_URL: expected an https URL/)
    const { INTENT_PRIVATE_KEY = '' } = settings()
    const second = await start(['--check'], {
      ...settings(),
      CHAIN_ID: '1',
      ENCLAVE_PRIVATE_KEY: INTENT_PRIVATE_KEY,
    })
    expect(await second.exit).toBe(1)
    expect(second.err()).toMatch(/^ENCLAVE_PRIVATE_KEY: is INTENT_PRIVATE_KEY too.*\nCHAIN_DEPTH: acts on/)
  })

  it('exits 1 and names every fault', async () => {
    const program = await start(['--check'], { ...settings(), LEDGER_MASTER_KEY: 'canary', RELAY_URL: '' })
    expect(await program.exit).toBe(1)
    expect(program.err()).toBe('LEDGER_MASTER_KEY: expected 0x and 64 hex digits\nRELAY_URL: is missing\n')
  })
})

describe('an enclave whose address cannot be had', () => {
  it.each([
    ['a port that is taken', '127.0.0.1', 'is in use: stop what uses it'],
    // TEST-NET-1 (RFC 5737): no machine has it.
    ['the address of another machine', '192.0.2.1', 'is no address of this machine'],
  ])('exits 1 on %s, and names its variable', async (_, host, fault) => {
    const holder = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void holder.close())
    await once(holder, 'listening')
    const listen = `${host}:${z.object({ port: z.int() }).parse(holder.address()).port}`
    const program = await start(['serve'], {
      ...settings(),
      ENCLAVE_LISTEN: listen,
      ENCLAVE_STATE_DIR: await temporaryDirectory(),
      ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
    })
    expect(await program.exit).toBe(1)
    expect(program.err()).toContain(`ENCLAVE_LISTEN: ${listen} ${fault}`)
  })
})

describe('an enclave that is killed', { timeout: 120_000 }, () => {
  /** Kills the enclave when `when` holds, and returns the notice of that run and the result of the order's next one. */
  async function killedWhen(
    order: OpenedOrder,
    when: () => Promise<boolean> | boolean,
    betweenRuns: () => void = () => undefined,
  ): Promise<{ notice: ProvisionalResult | undefined; result: PostedResult }> {
    const { serve, notices, resultOf } = await setUp()
    const { program, url } = await serve()
    const first = await take(url, await jobOf(order))
    await expect.poll(when, { timeout: 60_000, interval: 5 }).toBe(true)
    program.child.kill('SIGKILL')
    await once(program.child, 'close')
    world().broker.control.clear({ what: 'faults' })
    betweenRuns()
    const next = await serve()
    expect(await resultOf(first)).toMatchObject({ outcome: 'failed', code: RESTARTED })
    const second = await take(next.url, await jobOf(order, true))
    return { notice: notices.get(first), result: await resultOf(second) }
  }

  const slow = (method: 'GET' | 'POST', path: string, drop?: 'before' | 'after') =>
    world().broker.control.fault({ method, path, delayMs: 60_000, ...(drop && { drop }) })

  it('after the write-ahead', async () => {
    const order = await world().open(buy)
    slow('POST', '/v2/orders', 'before')
    const held = async () => (await world().portfolio('alice')) !== null
    expect(await killedWhen(order, held)).toMatchObject({ notice: undefined, result: { outcome: 'settled' } })
    await world().checkInvariants()
  })

  it('after placing', async () => {
    const order = await world().open(buy)
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const placed = () => world().broker.control.orders().length === 1
    const release = () => world().broker.control.release({ symbol: 'AAPL' })
    const killed = await killedWhen(order, placed, release)
    expect(killed).toMatchObject({ notice: undefined, result: { outcome: 'settled' } })
    expect(world().broker.control.orders()).toHaveLength(1)
    await world().checkInvariants()
  })

  it('before settling', async () => {
    const order = await world().open(buy)
    // The relay takes the settlement, and does nothing with it until the run is dead.
    world().relay.faults.push('pass', 'withhold')
    const signed = () => world().relay.posted.some(({ primaryType }) => primaryType === 'OrderSettlement')
    // The notice of the fill is posted before anything is relayed.
    const killed = await killedWhen(order, signed)
    expect(killed).toMatchObject({ notice: { notice: expect.anything() }, result: { outcome: 'settled' } })
    await world().relay.land()
    expect(await world().state(order)).toBe('SETTLED')
    expect(world().broker.control.orders()).toHaveLength(1)
    await world().checkInvariants()
  })
})
