import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { computeAddress, formatEther, Interface, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { findingSchema } from '../../src/protocol/finding.js'
import { sendAll } from '../../src/sandbox/localChain.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { REFUSAL, startFaultProxy } from '../support/faultProxy.js'
import { operate } from '../support/operate.js'
import { metricsOf } from '../support/ops.js'
import { startProgram } from '../support/program.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { useDesk } from './support/desk.js'

/** The server starts the enclave, so that one doctor reads both configurations. */
const desk = useDesk({ enclave: 'server' })
const OPERATE = built('operate/main.js')

type Variables = Readonly<Record<string, string>>

/** A copy of an env file in `directory` with some variables changed. */
async function changedEnvFile(source: string, directory: string, name: string, changes: Variables) {
  const variables = { ...parse(await readFile(source)), ...changes }
  const lines = Object.entries(variables).map(([key, value]) => `${key}=${value}`)
  const path = join(directory, name)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
  return path
}

const diagnosisSchema = z.strictObject({
  healthy: z.boolean(),
  findings: z.array(
    z.strictObject({ ...findingSchema.shape, part: z.enum(['server', 'enclave', 'together']) }),
  ),
})

interface Changes {
  readonly server?: Variables
  readonly enclave?: Variables
}

/** The sandbox's two env files, changed. */
async function environment({ server = {}, enclave = {} }: Changes) {
  const { directory } = desk().sandbox
  const own = await temporaryDirectory()
  const enclaveFile = await changedEnvFile(join(directory, '.env.enclave'), own, '.env.enclave', enclave)
  const serverChanges = { ENCLAVE_ENV_FILE: enclaveFile, ...server }
  return { ENV_FILE: await changedEnvFile(join(directory, '.env'), own, '.env', serverChanges) }
}

/** Runs the doctor in this process; some tests start the program. The enclave's part is a program in either case. */
async function run(changes: Changes, args: readonly string[] = []) {
  return operate(['doctor', ...args], { env: await environment(changes) })
}

/** Its faults as `part check`, each once, and the exit code. */
async function faultsOf(changes: Changes, args: readonly string[] = []) {
  const { exit, out, err } = await run(changes, [...args, '--json'])
  expect(err).toBe('')
  const { findings, healthy } = diagnosisSchema.parse(JSON.parse(out))
  const faults = findings.filter(({ result }) => result === 'fault')
  expect(healthy).toBe(faults.length === 0)
  return { exit, faults: [...new Set(faults.map(({ part, check }) => `${part} ${check}`))], findings }
}

const variables = async (name: string) => parse(await readFile(join(desk().sandbox.directory, name)))
/** Of no party. */
const { privateKey: KEY, address } = Wallet.createRandom()
const [SAME_PLATFORM, SAME_SIGNER] = ['together same-platform', 'together same-signer']

it('operate doctor finds nothing wrong with a healthy sandbox, and leaves nothing unchecked', async () => {
  const { exit, faults, findings } = await faultsOf({})
  expect(faults).toEqual([])
  // The disk is the machine's own.
  const rest = findings.filter(({ check, result }) => result !== 'ok' && check !== 'limit-disk')
  expect(rest).toEqual([])
  expect(exit).toBe(0)
  const proof = findings.find(({ check }) => check === 'master-key')
  expect(proof?.text).toContain('opens a rulebook that is on the chain')
})

it('operate doctor says so in a line each, with no secret in it', async () => {
  const program = startProgram(OPERATE, ['doctor'], { env: await environment({}) })
  expect(await program.exit).toBe(0)
  const out = program.out()
  expect(out.trimEnd().split('\n').at(-1)).toMatch(/^all is well(?:, 1 to note)?$/)
  expect(out).toMatch(/^ok {8} enclave {3}master-key /m)
  const [server, enclave] = [await variables('.env'), await variables('.env.enclave')]
  const secrets = [server, enclave].flatMap((file) =>
    Object.entries(file).filter(([name]) => /_KEY$|_KEY_ID$|TOKEN$/.test(name)),
  )
  expect(secrets.length).toBeGreaterThan(8)
  for (const [name, value] of secrets) expect(out.includes(value), name).toBe(false)
})

it.each<[string, Changes | (() => Promise<Changes>), string[]]>([
  ['an enclave of another chain', { enclave: { CHAIN_ID: '1337' } }, ['enclave chain-id', SAME_PLATFORM]],
  ['a witness that is down', { enclave: { RPC_WITNESS_URL: 'http://127.0.0.1:1' } }, ['enclave rpc']],
  ['no code', { server: { ORDER_ESCROW_ADDRESS: address } }, ['server contract-code', SAME_PLATFORM]],
  [
    'two addresses swapped',
    async () => {
      const { ORDER_ESCROW_ADDRESS = '', PLATFORM_POOL_ADDRESS = '' } = await variables('.env')
      const swapped = {
        ORDER_ESCROW_ADDRESS: PLATFORM_POOL_ADDRESS,
        PLATFORM_POOL_ADDRESS: ORDER_ESCROW_ADDRESS,
      }
      return { server: swapped, enclave: swapped }
    },
    ['server contract-links', 'enclave contract-links'],
  ],
  ['another signer', { server: { ENCLAVE_SIGNER: address } }, ['server enclave-signer', SAME_SIGNER]],
  ['another signing key', { enclave: { ENCLAVE_PRIVATE_KEY: KEY } }, ['enclave enclave-signer', SAME_SIGNER]],
  ['another key than that of clients', { enclave: { INTENT_PRIVATE_KEY: KEY } }, ['together intent-key']],
  [
    'one broker account for both',
    async () => {
      const { ALPACA_KEY_ID = '', ALPACA_SECRET_KEY = '' } = await variables('.env.enclave')
      return { server: { ALPACA_KEY_ID, ALPACA_SECRET_KEY } }
    },
    ['together broker-accounts'],
  ],
  ['other fees than sales pay', { enclave: { BROKER_FEES: 'none' } }, ['together same-fees']],
  ['refused broker keys', { enclave: { ALPACA_SECRET_KEY: 'wrong' } }, ['enclave broker-keys']],
  ['a relayer without ether', { server: { RELAYER_PRIVATE_KEY: KEY } }, ['server relayer-balance']],
  [
    'a relayer that has its floor and nothing for an order',
    async () => {
      const { RELAYER_PRIVATE_KEY = '' } = await variables('.env')
      const balance = await desk().sandbox.provider.getBalance(computeAddress(RELAYER_PRIVATE_KEY))
      return { server: { RELAY_MIN_BALANCE: formatEther(balance - 1n) } }
    },
    ['server relayer-balance'],
  ],
  [
    'a DATA_DIR that cannot be written',
    async () => {
      const file = join(await temporaryDirectory(), 'file')
      await writeFile(file, '')
      return { server: { DATA_DIR: join(file, 'data') } }
    },
    ['server data-dir'],
  ],
  ['another master key', { enclave: { LEDGER_MASTER_KEY: KEY } }, ['enclave master-key']],
  ['another relay token', { enclave: { RELAY_AUTH_TOKEN: 'x'.repeat(32) } }, ['enclave relay']],
  ['a variable that is missing', { server: { FRONTEND_ORIGIN: '' } }, ['server configuration']],
])('operate doctor names %s', async (_, changes, expected) => {
  const { exit, faults } = await faultsOf(typeof changes === 'function' ? await changes() : changes)
  expect(faults).toEqual(expected)
  expect(exit).toBe(1)
})

it('operate doctor names a pause, from which the owner can free the platform', async () => {
  const { provider, accounts } = desk().sandbox
  const to = await desk().contracts.escrow.authority()
  const abi = new Interface(authorityAbi)
  await sendAll(provider, accounts.guardian, [{ to, abi, method: 'pause', args: [] }])
  expect((await faultsOf({})).faults).toEqual(['server pause', 'enclave pause'])
  await sendAll(provider, accounts.owner, [{ to, abi, method: 'liftPause', args: [] }])
  expect((await faultsOf({})).faults).toEqual([])
})

it('operate doctor proves the master key by the portfolio of an account, too', async () => {
  const [alice, bob] = desk().traders
  await alice.trade({ side: 'BUY', symbol: 'AAPL', usdc: 500_000_000n })
  const account = ['--account', alice.account.address]
  const enclaveFile = { ENCLAVE_ENV_FILE: join(desk().sandbox.directory, '.env.enclave') }
  const program = startProgram(OPERATE, ['doctor', '--part', 'enclave', ...account], { env: enclaveFile })
  expect(await program.exit).toBe(0)
  expect(program.out()).toContain('opens a portfolio that is on the chain')
  const wrong = await faultsOf({ enclave: { LEDGER_MASTER_KEY: KEY } }, account)
  expect(wrong.faults).toEqual(['enclave master-key'])
  const none = await faultsOf({}, ['--account', bob.account.address])
  expect(none.findings.filter(({ result }) => result === 'unchecked').map(({ check }) => check)).toEqual([
    'master-key',
  ])
})

it('the server shows the most that was used of its limits, and by one client, account or institution of its own', async () => {
  const { traders, sandbox } = desk()
  await traders[2].client.placeOrder({ side: 'BUY', symbol: 'AAPL', usdc: 100_000_000n }, { sponsored: true })
  const limits = [
    ...'rate node-calls at-once connections openings account-gas institution-gas'.split(' '),
    ...'all-at-once all-connections arriving relay-connections relay-openings relay-others'.split(' '),
  ]
  await eventually('a share of each limit', async () => {
    const { find } = await metricsOf(sandbox.info.opsUrl)
    const shares = limits.map((limit) => find('trading_limit_highest_share', { limit }) ?? 0)
    return shares.every((share) => share > 0 && share < 0.8)
  })
})

it('operate doctor at a node that gives no events, says what can be told', async () => {
  const proxy = await startFaultProxy((await variables('.env.enclave')).RPC_URL ?? '')
  proxy.answer = ({ method }) => (method === 'eth_getLogs' ? REFUSAL : undefined)
  const { exit, faults, findings } = await faultsOf({ enclave: { RPC_URL: proxy.url } })
  expect({ exit, faults }).toEqual({ exit: 0, faults: [] })
  const text = 'name an account that has a portfolio with --account'
  expect(findings.find(({ check }) => check === 'master-key')?.text).toContain(text)
  expect(findings.find(({ check }) => check === 'proposed-actions')?.text).toContain(
    'the nodes give no events',
  )
})

it('operate doctor compares with a report that was made elsewhere, and never reads the enclave’s file then', async () => {
  const enclaveFile = { ENCLAVE_ENV_FILE: join(desk().sandbox.directory, '.env.enclave') }
  const report = startProgram(built('enclave/doctor/main.js'), [], { env: enclaveFile })
  expect(await report.exit).toBe(0)
  const path = join(await temporaryDirectory(), 'report.json')
  await writeFile(path, report.out())
  const absent = { ENCLAVE_ENV_FILE: '/absent' }
  expect(await faultsOf({ server: absent }, ['--enclave-report', path])).toMatchObject({
    exit: 0,
    faults: [],
  })
  expect((await faultsOf({ server: absent })).faults).toEqual(['enclave configuration'])
  await writeFile(path, '{}')
  expect((await faultsOf({}, ['--enclave-report', path])).faults).toEqual(['enclave report'])
})

it('operate invariants holds every portfolio against chain and broker', async () => {
  const env = await environment({})
  const enclaveFile = { ...env, ENCLAVE_ENV_FILE: join(desk().sandbox.directory, '.env.enclave') }
  const program = startProgram(OPERATE, ['invariants'], { env: enclaveFile })
  expect(await program.exit).toBe(0)
  expect(program.out()).toMatch(/^ok {8} enclave {3}money /m)
})
