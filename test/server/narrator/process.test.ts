import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { toBeHex } from 'ethers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type Postgres, startPostgres } from '../../../src/sandbox/postgres.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { built } from '../../support/built.js'
import { INTERFACES, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { openBuy, setUpInstitution, usd } from '../../support/institution.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { runtimeEnvironment } from '../../support/runtimeEnvironment.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { storedText } from '../../support/storedRows.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DIE_BEFORE_PRINTING = new URL('./dieBeforePrinting.mjs', import.meta.url).href
const DIE_BEFORE_SAVING = new URL('./dieBeforeSaving.mjs', import.meta.url).href

interface Server {
  /** The text of its standard output, and of both streams where they are one pipe. */
  readonly out: () => string
  /** Whether that text is read, or stays in the pipe. */
  read(isRead: boolean): void
  /** Lets it stand still, or go on. */
  pause(isPaused: boolean): void
  readonly ended: Promise<unknown[]>
  kill(): Promise<void>
}

/** The real server, whose narration goes to a pipe; its log too, where they share it. */
function startServer(
  dataDir: string,
  options: { preload?: string; isShared?: boolean; env?: Record<string, string> } = {},
): Server {
  const { preload, isShared = false, env = {} } = options
  const node = [...(preload === undefined ? [] : ['--import', preload]), built('server/main.js')]
  const shell = ['-c', 'exec "$0" "$@" 2>&1', process.execPath, ...node]
  const program = isShared ? '/bin/sh' : process.execPath
  const args = isShared ? shell : node
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...runtimeEnvironment(),
      ...SERVER_ENVIRONMENT,
      ...chainEnvironment(chain()),
      NARRATOR_INTERVAL: '50ms',
      DATA_DIR: dataDir,
      ...env,
    },
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part
  })
  const ended = once(child, 'close')
  const kill = async () => {
    child.stdout.resume()
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const read = (isRead: boolean) => (isRead ? child.stdout.resume() : child.stdout.pause())
  const pause = (isPaused: boolean) => void child.kill(isPaused ? 'SIGSTOP' : 'SIGCONT')
  return { out: () => out, read, pause, ended, kill }
}

const lineSchema = z.looseObject({
  kind: z.string().optional(),
  amount: z.string().optional(),
  level: z.int().optional(),
})
const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => lineSchema.parse(JSON.parse(line)))

/** The whole USDC told, negative where retracted. */
const told = (...servers: Server[]) =>
  servers
    .flatMap((server) => linesOf(server.out()))
    .filter(({ kind }) => kind !== undefined)
    .map(({ kind, amount }) => (Number(amount) / 1e6) * (kind === 'retraction' ? -1 : 1))

async function buys(...amounts: number[]): Promise<void> {
  for (const amount of amounts) await openBuy(chain(), 'alice', `buy of ${amount}`, usd(amount))
}

/** The last narrated block. */
async function cursorOf(dataDir: string): Promise<number> {
  const text = storedText(dataDir, 'state', 'narrator') ?? ''
  return Number(/.*"number":(\d+)/s.exec(text)?.[1] ?? -1)
}

async function cursorAtHead(dataDir: string): Promise<void> {
  const head = await chain().provider.getBlockNumber()
  await eventually('the cursor', async () => (await cursorOf(dataDir)) === head)
}

describe('a server that is killed', { timeout: 120_000 }, () => {
  /** Tells one buy, is killed at the second, and goes on. */
  async function killedAt(preload: string, act: () => Promise<void>): Promise<number[]> {
    const dataDir = await temporaryDirectory()
    const first = startServer(dataDir)
    await cursorAtHead(dataDir)
    const fork: unknown = await chain().provider.send('evm_snapshot', [])
    await buys(1)
    await eventually('the first line', () => told(first).length === 1)
    await first.kill()
    if (act === retract) await chain().provider.send('evm_revert', [fork])
    await act()
    const dying = startServer(dataDir, { preload })
    expect(await dying.ended).toEqual([null, 'SIGKILL'])
    const second = startServer(dataDir)
    await buys(3)
    await eventually('the last line', () => told(second).includes(3))
    await second.kill()
    const third = startServer(dataDir)
    await buys(4)
    await eventually('the last line', () => told(third).includes(4))
    return told(first, dying, second, third)
  }
  const tell = () => buys(2)
  const retract = () => chain().provider.send('anvil_mine', ['0x5'])

  test('between saving the cursor and printing never prints those lines', async () => {
    expect(await killedAt(DIE_BEFORE_PRINTING, tell)).toEqual([1, 3, 4])
  })

  test('before the cursor is saved prints them once, after it was started again', async () => {
    expect(await killedAt(DIE_BEFORE_SAVING, tell)).toEqual([1, 2, 3, 4])
  })

  test('at a retraction keeps to the same rule', async () => {
    expect(await killedAt(DIE_BEFORE_PRINTING, retract)).toEqual([1, 3, 4])
  })

  test('before a retraction is saved prints that once', async () => {
    expect(await killedAt(DIE_BEFORE_SAVING, retract)).toEqual([1, -1, 3, 4])
  })
})

test('lines of narration and log stay whole in one pipe, also while it is not read', {
  timeout: 120_000,
}, async () => {
  const dataDir = await temporaryDirectory()
  const events = 1_200
  const server = startServer(dataDir, { isShared: true, env: { LOG_LEVEL: 'debug' } })
  await cursorAtHead(dataDir)
  const port = await eventually('its port', () => /"port":(\d+).*"listening"/.exec(server.out())?.[1])
  const ask = () => fetch(`http://127.0.0.1:${port}/nothing`)
  server.read(false)
  const { provider, account, addressOf } = chain()
  const before = await provider.getBlockNumber()
  await provider.send('evm_setAutomine', [false])
  const call = { from: account('owner'), to: addressOf('token'), gas: '0x11170' }
  const clear = (wallet: string) => INTERFACES.token.encodeFunctionData('setKyc', [wallet, true])
  for (let sent = 0; sent < events; sent += 100) {
    const wallets = Array.from({ length: 100 }, (_, index) => toBeHex(sent + index + 1, 20))
    const calls = wallets.map((wallet) => ({ ...call, data: clear(wallet) }))
    await Promise.all(calls.map((each) => provider.send('eth_sendTransaction', [each])))
  }
  await provider.send('evm_setAutomine', [true])
  await provider.send('anvil_mine', ['0x20'])
  // It goes no further than to the first lines that the pipe does not take.
  await eventually('narration to begin', async () => (await cursorOf(dataDir)) > before)
  for (let request = 0; request < 20; request++) await ask()
  server.read(true)
  await eventually(
    'all lines',
    () => linesOf(server.out()).filter(({ kind }) => kind === 'event').length === events,
  )
  for (let request = 0; request < 5; request++) await ask()
  await eventually(
    'the log of the requests',
    () => linesOf(server.out()).filter(({ level }) => level).length >= 25,
  )
})

describe('two servers on one database', { timeout: 180_000 }, () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  /** The one that narrates, and the other, once the cursor is at the head. */
  async function start() {
    const url = await postgres.createDatabase()
    const env = { DATABASE_URL: url.reveal() }
    const dataDir = await temporaryDirectory()
    const holder = startServer(dataDir, { isShared: true, env })
    const isNarrating = (server: Server) => /"recordId":"narrator".*"lease taken"/.test(server.out())
    await eventually('the lease', () => isNarrating(holder))
    const engine = await openPostgres(createDatabases(url))
    onTestFinished(() => engine.stop())
    const head = await chain().provider.getBlockNumber()
    await eventually('the cursor', async () => {
      const { doc = '' } = (await engine.get('state', 'narrator')) ?? {}
      return Number(/.*"number":(\d+)/s.exec(doc)?.[1] ?? -1) >= head
    })
    const other = startServer(dataDir, { isShared: true, env })
    await eventually('the other', () => other.out().includes('"listening"'))
    return { holder, other }
  }

  test('narrate one event once, and the second goes on where the first was killed', async () => {
    const { holder, other } = await start()
    await buys(1)
    await eventually('the first line', () => told(holder).includes(1))
    await holder.kill()
    await buys(2)
    await eventually('the second line', () => told(other).includes(2))
    await buys(3)
    await eventually('the third line', () => told(other).includes(3))
    expect(told(holder, other)).toEqual([1, 2, 3])
  })

  test('narrate one event once where the first is paused for longer than its lease lasts', async () => {
    const { holder, other } = await start()
    await buys(1)
    await eventually('the first line', () => told(holder).includes(1))
    holder.pause(true)
    await buys(2)
    await eventually('the second line', () => told(other).includes(2))
    holder.pause(false)
    await buys(3)
    await eventually('the third line', () => told(other).includes(3))
    await eventually('the first to give up', () => holder.out().includes('"lease given up"'))
    expect(told(holder, other)).toEqual([1, 2, 3])
  })
})
