import { access, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { computeAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkLimits } from '../../src/operate/doctor/limits.js'
import { checkStores } from '../../src/operate/doctor/stores.js'
import { healthSchema } from '../../src/protocol/api.js'
import { readConfig } from '../../src/server/config/config.js'
import { lockDirectory } from '../../src/service/directoryLock.js'
import { Secret } from '../../src/service/secret.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { startKmsStandIn } from '../support/kmsStandIn.js'
import { type Postgres, startPostgres } from '../support/postgres.js'
import { type Program, startProgram } from '../support/program.js'
import { startRawServer } from '../support/rawServer.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The server as a process of its own, with nothing of this one's environment but the search path and the compile cache. */
const run = (env: Record<string, string>, cwd = ROOT) =>
  startProgram(built('server/main.js'), [], { env, cwd })

async function listeningPort(server: Program): Promise<number> {
  return eventually('the server to listen', () => {
    if (server.child.exitCode !== null) throw new Error(server.err())
    return Number(/"port":(\d+).*"server started"/.exec(server.err())?.[1]) || null
  })
}

describe('the server process', { timeout: 300_000 }, () => {
  test('exits 1 and names every fault of the configuration at once, on standard error alone', async () => {
    const file = join(await temporaryDirectory(), 'empty.env')
    await writeFile(file, 'PORT=canary\n', { mode: 0o600 })
    const server = run({ ENV_FILE: file, RELAYER_PRIVATE_KEY: 'canary-key' })
    expect(await server.exit).toBe(1)
    expect(server.out()).toBe('')
    expect(server.err().split('\n')).toEqual(
      expect.arrayContaining([
        '  PORT: expected an integer from 0 to 65535',
        '  RPC_URL: is missing',
        '  ALPACA_SECRET_KEY: is missing',
        expect.stringMatching(/^ {2}RELAYER_PRIVATE_KEY: expected a secp256k1 private key/),
      ]),
    )
    expect(server.err().match(/^ {2}[A-Z_]+: /gm)).toHaveLength(13)
    expect(server.err()).not.toContain('canary')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'stops cleanly on %s: exit 0, the directory free',
    async (signal) => {
      const dataDir = await temporaryDirectory()
      const server = run({ ...SERVER_ENVIRONMENT, DATA_DIR: dataDir })
      const port = await listeningPort(server)
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
      expect(() => lockDirectory(dataDir)).toThrow(`process ${server.child.pid}`)
      server.child.kill(signal)
      expect(await server.exit).toBe(0)
      // SQLite has put its log into the database.
      expect(await readdir(dataDir)).toEqual(['server.db', 'server.lock', 'server.pid'])
      lockDirectory(dataDir).release()
      expect(server.err()).toContain('"server stopped"')
      expect(server.out()).toBe('')
    },
  )

  test('is refused on a directory in use, and starts there after a SIGKILL', async () => {
    const env = { ...SERVER_ENVIRONMENT, DATA_DIR: await temporaryDirectory() }
    const first = run(env)
    await listeningPort(first)
    const second = run(env)
    expect(await second.exit).toBe(1)
    expect(second.err()).toMatch(/^DATA_DIR .* is in use by process \d+\. .*\n$/)
    first.child.kill('SIGKILL')
    await first.exit
    const next = run(env)
    await listeningPort(next)
    next.child.kill('SIGTERM')
    expect(await next.exit).toBe(0)
  })

  test('is refused a directory, a port or an address that it cannot have, with one line and exit 1', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, '')
    const { port } = new URL(await startRawServer(() => undefined))
    const inUse = (name: string) => `Port ${port} is in use: stop what uses it, or set ${name}.`
    const cases: [Record<string, string>, string][] = [
      [{ DATA_DIR: file }, `DATA_DIR ${file} cannot be used as a directory (EEXIST): name another one.`],
      [{ PORT: port }, inUse('PORT')],
      [{ OPS_PORT: port }, inUse('OPS_PORT')],
      [{ OPS_HOST: '192.0.2.1' }, 'OPS_HOST 192.0.2.1 is no address of this machine (EADDRNOTAVAIL)'],
      [{ HOST: 'nowhere.invalid' }, 'HOST nowhere.invalid is no address of this machine'],
    ]
    for (const [variables, line] of cases) {
      const server = run({ ...SERVER_ENVIRONMENT, DATA_DIR: await temporaryDirectory(), ...variables })
      expect(await server.exit).toBe(1)
      expect(server.err()).toContain(line)
      expect(server.err().split('\n')).toHaveLength(2)
    }
    const [finding] = await checkStores(readConfig({ ...SERVER_ENVIRONMENT, DATA_DIR: file }))
    expect(finding).toMatchObject({ check: 'data-dir', result: 'fault' })
  })

  test('takes its account from AWS KMS as AWS tools are configured, or says with exit 1 why it cannot', async () => {
    const kms = await startKmsStandIn(`0x${'17'.repeat(32)}`)
    const { RELAYER_PRIVATE_KEY: _, ...rest } = SERVER_ENVIRONMENT
    const environment = async () => ({
      ...rest,
      DATA_DIR: await temporaryDirectory(),
      RELAYER_KMS_KEY_ID: 'alias/relayer',
      AWS_ENDPOINT_URL_KMS: kms.url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'stand-in',
      AWS_SECRET_ACCESS_KEY: 'stand-in',
    })
    const server = run(await environment())
    const port = await listeningPort(server)
    const health = healthSchema.parse(await (await fetch(`http://127.0.0.1:${port}/health`)).json())
    expect(health.relayer).toBe(computeAddress(`0x${'17'.repeat(32)}`))
    kms.failure = { status: 400, type: 'AccessDeniedException' }
    const refused = run(await environment())
    expect(await refused.exit).toBe(1)
    expect(refused.err()).toContain(
      'AWS KMS does not give the public key of RELAYER_KMS_KEY_ID: AccessDenied',
    )
    expect(refused.err()).not.toContain('    at ')
  })

  test('logs once what chain and broker say against its configuration, with the remedy, and goes on', async () => {
    const server = run({ ...SERVER_ENVIRONMENT, DATA_DIR: await temporaryDirectory() })
    const port = await listeningPort(server)
    const found = () =>
      server
        .err()
        .split('\n')
        .filter((line) => line.includes('"configuration fault found"'))
    await expect.poll(found).toHaveLength(2)
    expect(found().join('\n')).toContain('node 1 of 1 in RPC_URL does not answer: check its address')
    expect(found().join('\n')).toMatch(/the broker gives no usable answer \(.+\): check ALPACA_TRADING_URL/)
    expect((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status).toBe(200)
  })

  test('keeps its secrets out of its output, at every log level', async () => {
    const secrets = {
      RELAY_AUTH_TOKEN: 'canary-token-canary-token-canary-token',
      RELAYER_PRIVATE_KEY: `0x${'ca'.repeat(32)}`,
      ALPACA_KEY_ID: 'canary-key-id',
      ALPACA_SECRET_KEY: 'canary-secret-key',
      RPC_URL: 'http://127.0.0.1:9/canary-rpc-key',
    }
    const dataDir = await temporaryDirectory()
    const server = run({ ...SERVER_ENVIRONMENT, ...secrets, DATA_DIR: dataDir, LOG_LEVEL: 'debug' })
    const url = `http://127.0.0.1:${await listeningPort(server)}`
    const answers = await Promise.all([
      fetch(`${url}/enclave-key`),
      fetch(`${url}/relay`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secrets.RELAY_AUTH_TOKEN}` },
      }),
      fetch(`${url}/health`),
    ])
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    const files = await Promise.all(
      (await readdir(dataDir)).map((name) => readFile(join(dataDir, name), 'utf8')),
    )
    server.child.kill('SIGTERM')
    await server.exit
    expect([server.out(), server.err(), ...bodies, ...files].join('\n')).not.toMatch(/canary|(ca){8}/)
  })
})

describe('on PostgreSQL', { timeout: 300_000 }, () => {
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  async function environment(url: Secret): Promise<Record<string, string>> {
    const DATA_DIR = join(await temporaryDirectory(), 'data')
    return { ...SERVER_ENVIRONMENT, LOG_LEVEL: 'debug', DATA_DIR, DATABASE_URL: url.reveal() }
  }

  async function started(env: Record<string, string>) {
    const server = run(env)
    await listeningPort(server)
    const stop = async () => {
      server.child.kill('SIGTERM')
      expect(await server.exit).toBe(0)
    }
    return { server, stop }
  }

  /** The line that the server ends with. */
  async function refusal(env: Record<string, string>): Promise<string> {
    const server = run(env)
    expect(await server.exit).toBe(1)
    expect(server.err()).not.toContain(postgres.password)
    return server.err()
  }

  test('the server needs no directory, and starts again on what it has stored; one of another deployment is refused', async () => {
    const env = await environment(await postgres.createDatabase())
    for (let starts = 0; starts < 2; starts++) {
      const { server, stop } = await started(env)
      await stop()
      expect(server.out() + server.err()).not.toContain(postgres.password)
    }
    await expect(access(`${env.DATA_DIR}`)).rejects.toThrow('ENOENT')
    expect(await refusal({ ...env, CHAIN_ID: '1' })).toBe(
      "DATABASE_URL: its database belongs to another deployment: its chain is 31337, and this server's is 1. Give each deployment a database of its own.\n",
    )
  })

  test('the doctor reads the database, and leaves it as it is', async () => {
    const url = await postgres.createDatabase()
    const env = await environment(url)
    const findings = async (changes = {}) =>
      (await checkStores(readConfig({ ...env, ...changes }))).map(({ check, result, text }) => [
        check,
        result,
        text,
      ])
    const standby = [
      'database-standby',
      'notice',
      'no commit waits for a standby: a failover may lose accepted orders (docs/scaling.md)',
    ]
    const unused = ['leases', 'unchecked', 'no server runs on this database']
    const fresh = ['database', 'ok', 'PostgreSQL answers; the server will create its tables']
    expect(await findings()).toEqual([fresh, standby, unused])
    expect(await findings()).toEqual([fresh, standby, unused])
    const { stop } = await started(env)
    await vi.waitFor(
      async () => expect((await findings()).at(-1)?.[2]).toMatch(/narrator.*: held by \d running servers?$/),
      15_000,
    )
    expect((await findings())[0]).toEqual(['database', 'ok', 'PostgreSQL answers, and holds this deployment'])
    const [disk, connections] = await checkLimits(readConfig(env))
    expect(disk?.text).toMatch(/^\d+ % of the disk of the database/)
    expect([connections?.result, connections?.text]).toEqual(['ok', expect.stringMatching(/^\d+ % of Pos/)])
    const another = `0x${'99'.repeat(20)}`
    for (const [changes, difference] of [
      [{ CHAIN_ID: '1' }, "its chain is 31337, and this server's is 1"],
      [
        { EQUITY_TOKEN_ADDRESS: another },
        `its equityToken is ${env.EQUITY_TOKEN_ADDRESS}, and this server's is ${another}`,
      ],
    ] as const) {
      const [found] = await findings(changes)
      expect(found?.slice(1)).toEqual([
        'fault',
        `DATABASE_URL: it belongs to another deployment: ${difference}`,
      ])
    }
    await stop()
    const wrong = url.reveal().replace(postgres.password, 'another-password')
    expect(await findings({ DATABASE_URL: wrong })).toEqual([
      ['database', 'fault', 'DATABASE_URL cannot be read (28P01): check host, user, password and TLS'],
      ['database-standby', 'unchecked', 'no database to ask'],
      ['leases', 'unchecked', 'no database to ask'],
    ])
  })

  test.each([
    ['that nothing listens at', (url: URL) => Object.assign(url, { port: '9' }), 'ECONNREFUSED'],
    ['with another password', (url: URL) => Object.assign(url, { password: 'canary' }), '28P01'],
  ])('a database %s is named without its URL', async (_, change, code) => {
    const url = change(new URL((await postgres.createDatabase()).reveal())).href
    expect(await refusal(await environment(new Secret(url)))).toBe(
      `DATABASE_URL: its database cannot be read or written (${code}). npm run operate -- doctor says what to check.\n`,
    )
  })
})
