import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RunResult, runResultSchema } from '../../src/protocol/job.js'
import { ENCLAVE_ACCOUNT, usd } from '../support/brokerStandIn.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { enclaveEnvironment } from './support/environment.js'
import type { OpenedOrder, Wish } from './support/parties.js'
import { useWorld } from './support/world.js'

const MAIN = fileURLToPath(new URL('../../src/enclave/main.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const buy: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100), escrow: usd(100) }

const world = useWorld()

interface Child {
  readonly process: ChildProcess
  readonly exit: Promise<number | null>
  /** Both streams. */
  readonly output: () => string
  readonly directory: string
  readonly runId: string
  result(): Promise<RunResult>
}

/** The choices of a run's starter. */
interface Place {
  readonly runId: string
  readonly resultFile: string
}

/** The enclave as a process of its own, with an explicit environment. */
async function start(
  input: string | ((place: Place) => unknown),
  env?: Record<string, string>,
  flags: readonly string[] = [],
): Promise<Child> {
  const directory = await temporaryDirectory()
  const envFile = join(directory, '.env.enclave')
  const runId = randomUUID()
  const resultFile = join(directory, `${runId}.result`)
  const lines = Object.entries(env ?? settings()).map(([name, value]) => `${name}=${value}`)
  await writeFile(envFile, lines.join('\n'), { mode: 0o600 })
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...flags], {
    cwd: ROOT,
    env: { ENCLAVE_ENV_FILE: envFile, ENCLAVE_RESULT_DIR: directory },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let output = ''
  const keep = (chunk: unknown) => {
    output += String(chunk)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.stdin.on('error', () => undefined)
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input({ runId, resultFile })))
  const exit = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  const result = async () => runResultSchema.parse(JSON.parse(await readFile(resultFile, 'utf8')))
  return { process: child, exit, output: () => output, directory, runId, result }
}

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
    ABSENT_RECHECK_AFTER: '500ms',
  }
}

const orderJob =
  ({ orderId, envelope }: OpenedOrder, withEnvelope = true) =>
  (place: Place) => ({
    job: 'order',
    ...place,
    stopAt: Math.floor(Date.now() / 1_000) + 120,
    orderId,
    ...(withEnvelope && { envelope }),
  })

describe('the enclave process', { timeout: 120_000 }, () => {
  it('settles an order and exits 0, having printed nothing', async () => {
    const order = await world().open(buy)
    const child = await start(orderJob(order))
    expect(await child.exit).toBe(0)
    expect(child.output()).toBe('')
    expect(await child.result()).toMatchObject({ outcome: 'settled' })
    expect((await readdir(child.directory)).sort()).toEqual(['.env.enclave', `${child.runId}.result`])
    await world().checkInvariants()
  })

  it('writes why a rulebook is rejected', async () => {
    const { envelope } = await world().open(buy)
    const child = await start((place) => ({
      job: 'policy',
      ...place,
      stopAt: Math.floor(Date.now() / 1_000) + 120,
      envelope,
    }))
    expect(await child.exit).toBe(0)
    expect(await child.result()).toEqual({ outcome: 'rejected', code: 'undecryptable' })
  })

  it('writes a failure when neither node nor relay can be reached', async () => {
    const order = await world().open(buy)
    const child = await start(orderJob(order), { ...settings(), RPC_URL: 'http://127.0.0.1:1' })
    expect(await child.exit).toBe(0)
    expect(await child.result()).toEqual({ outcome: 'failed', code: 'chain-unavailable' })
  })

  it('exits 1 without a result for what is no job, and quotes nothing of it', async () => {
    for (const input of ['', '{"job":"order","canary":1}', `"${'canary'.repeat(40_000)}"`]) {
      const child = await start(input)
      expect(await child.exit).toBe(1)
      expect(child.output()).not.toContain('canary')
      expect(await readdir(child.directory)).toEqual(['.env.enclave'])
    }
  })

  it('exits 1 and names the faults of its configuration', async () => {
    const child = await start('{}', { ...settings(), LEDGER_MASTER_KEY: 'canary', RELAY_URL: '' })
    expect(await child.exit).toBe(1)
    expect(child.output()).toBe('LEDGER_MASTER_KEY: expected 0x and 64 hex digits\nRELAY_URL: is missing\n')
  })
})

describe('the enclave’s check of its configuration', () => {
  it('exits 0 without a word when there is no fault, without reading a job or calling a node', async () => {
    const nobody = { ...settings(), RPC_URL: 'http://127.0.0.1:1', RELAY_URL: 'http://127.0.0.1:1' }
    const child = await start('', nobody, ['--check'])
    expect(await child.exit).toBe(0)
    expect(child.output()).toBe('')
    expect(await readdir(child.directory)).toEqual(['.env.enclave'])
  })

  it('exits 1 and names every fault', async () => {
    const child = await start('', { ...settings(), LEDGER_MASTER_KEY: 'canary', RELAY_URL: '' }, ['--check'])
    expect(await child.exit).toBe(1)
    expect(child.output()).toBe('LEDGER_MASTER_KEY: expected 0x and 64 hex digits\nRELAY_URL: is missing\n')
  })
})

describe('an enclave that is killed', { timeout: 120_000 }, () => {
  /** Kills the first run when `when` holds, and returns the result of the next. */
  async function killedWhen(
    order: OpenedOrder,
    when: () => Promise<boolean> | boolean,
    { betweenRuns, left = [] }: { betweenRuns?: () => void; left?: RunResult['outcome'][] } = {},
  ): Promise<RunResult> {
    const child = await start(orderJob(order))
    await expect.poll(when, { timeout: 60_000, interval: 5 }).toBe(true)
    child.process.kill('SIGKILL')
    expect(await child.exit).toBeNull()
    expect(await readdir(child.directory)).toHaveLength(1 + left.length)
    for (const outcome of left) expect(await child.result()).toMatchObject({ outcome })
    world().broker.control.clear({ what: 'faults' })
    betweenRuns?.()
    const next = await start(orderJob(order, false))
    expect(await next.exit).toBe(0)
    return next.result()
  }

  const slow = (method: 'GET' | 'POST', path: string, drop?: 'before' | 'after') =>
    world().broker.control.fault({ method, path, delayMs: 60_000, ...(drop && { drop }) })

  it('after the write-ahead', async () => {
    const order = await world().open(buy)
    slow('POST', '/v2/orders', 'before')
    const held = async () => (await world().portfolio('alice')) !== null
    expect(await killedWhen(order, held)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })

  it('after placing', async () => {
    const order = await world().open(buy)
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const placed = () => world().broker.control.orders().length === 1
    const release = () => world().broker.control.release({ symbol: 'AAPL' })
    expect(await killedWhen(order, placed, { betweenRuns: release })).toMatchObject({ outcome: 'settled' })
    expect(world().broker.control.orders()).toHaveLength(1)
    await world().checkInvariants()
  })

  it('before settling', async () => {
    const order = await world().open(buy)
    // The relay takes the settlement, and does nothing with it until the run is dead.
    world().relay.faults.push('pass', 'withhold')
    const signed = () => world().relay.posted.some(({ primaryType }) => primaryType === 'OrderSettlement')
    // The notice of the fill is left before anything is relayed.
    expect(await killedWhen(order, signed, { left: ['failed'] })).toMatchObject({ outcome: 'settled' })
    await world().relay.land()
    expect(await world().state(order)).toBe('SETTLED')
    expect(world().broker.control.orders()).toHaveLength(1)
    await world().checkInvariants()
  })
})
