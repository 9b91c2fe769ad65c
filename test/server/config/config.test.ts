import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { parse } from 'dotenv'
import { computeAddress } from 'ethers'
import { describe, expect, test } from 'vitest'
import { ADDRESS_VARIABLES } from '../../../src/chain/contracts.js'
import { loadConfig, readConfig } from '../../../src/server/config/config.js'
import { environmentSchema } from '../../../src/server/config/schema.js'
import { ConfigError, differencesOf, type Environment } from '../../../src/service/config.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

function faultsOf(environment: Environment): Record<string, string> {
  try {
    readConfig(environment)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return Object.fromEntries(error.faults.map(({ name, problem }) => [name, problem]))
  }
  return {}
}

const faultsWith = (variables: Environment) => faultsOf({ ...SERVER_ENVIRONMENT, ...variables })
const two = (name: string) => `is ${name} too: the two must differ`

const REQUIRED = [
  'ALPACA_KEY_ID',
  'ALPACA_SECRET_KEY',
  'CHAIN_ID',
  'CONFIDENTIAL_LEDGER_ADDRESS',
  'EQUITY_TOKEN_ADDRESS',
  'FRONTEND_ORIGIN',
  'INSTITUTION_REGISTRY_ADDRESS',
  'ORDER_ESCROW_ADDRESS',
  'PLATFORM_POOL_ADDRESS',
  'RELAYER_PRIVATE_KEY',
  'RELAY_AUTH_TOKEN',
  'RPC_URL',
]

const CONTRACTS = Object.values(ADDRESS_VARIABLES)
/** Without an enclave elsewhere, and without the relayer's key. */
const {
  ENCLAVE_URL: _url,
  ENCLAVE_TRIGGER_SECRET: _secret,
  RELAYER_PRIVATE_KEY: ONE_KEY,
  ...OWN
} = SERVER_ENVIRONMENT

const DATABASE_URL = 'postgresql://user:password@127.0.0.1/database'
const KMS_KEY = 'arn:aws:kms:eu-central-1:111122223333:alias/relayer'

test('the configuration fills in the defaults, among them an enclave that the server starts itself', () => {
  const entries = Object.entries(SERVER_ENVIRONMENT)
  const config = readConfig(Object.fromEntries(entries.filter(([name]) => REQUIRED.includes(name))))
  expect(config.http).toMatchObject({ port: 8_000, host: undefined, trustProxy: 0 })
  expect(config.ops).toEqual({ port: 8_001, host: '127.0.0.1' })
  expect(config.dataDir).toBe(resolve('data'))
  expect(config.broker.tradingUrl).toBe('https://paper-api.alpaca.markets')
  expect(config.enclave).toMatchObject({
    trigger: {
      kind: 'resident',
      program: resolve('dist/enclave/main.js'),
      envFile: resolve('.env.enclave'),
      directory: resolve('data/enclave'),
    },
    maxRuns: 240,
    triggerIntervalMs: 0,
  })
})

test('the configuration parses what it takes', () => {
  const config = readConfig({
    ...SERVER_ENVIRONMENT,
    ENCLAVE_URL: 'https://enclave.example/trigger?key=1,unix:/run/next.sock',
    ENCLAVE_TRIGGER_INTERVAL: '50s',
    DATABASE_URL,
    RPC_URL: 'https://a.example/key, http://127.0.0.1:8545',
    RELAY_RESUBMIT_AFTER: '2m',
    READ_MAX_AGE: '250ms',
    ALPACA_TRADING_URL: 'http://127.0.0.1:9000/',
    INTENT_PUBKEY:
      '0x0479BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8',
    ENCLAVE_SIGNER: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  })
  expect(config.chain.rpcUrls.reveal()).toEqual(['https://a.example/key', 'http://127.0.0.1:8545'])
  expect(config.relay.resubmitAfterMs).toBe(120_000)
  expect(config.chain.readMaxAgeMs).toBe(250)
  expect(config.broker.tradingUrl).toBe('http://127.0.0.1:9000')
  expect(config.databaseUrl?.reveal()).toBe(DATABASE_URL)
  const { trigger, triggerIntervalMs, intentPublicKey, signer } = config.enclave
  expect(trigger.kind === 'http' && [trigger.urls.reveal(), trigger.secret.reveal()]).toEqual([
    ['https://enclave.example/trigger?key=1', 'unix:/run/next.sock'],
    RUN_SECRET,
  ])
  expect(triggerIntervalMs).toBe(50_000)
  expect(intentPublicKey).toBe(SERVER_ENVIRONMENT.INTENT_PUBKEY)
  expect(signer).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
})

test("the configuration takes the relayer's key from one place, as itself or at AWS KMS", () => {
  const { relayerKey } = readConfig({ ...OWN, RELAYER_PRIVATE_KEY: ONE_KEY }).relay
  expect(relayerKey.kind === 'private-key' && relayerKey.privateKey.reveal()).toBe(ONE_KEY)
  const atKms = readConfig({ ...OWN, RELAYER_KMS_KEY_ID: KMS_KEY }).relay.relayerKey
  expect(atKms).toEqual({ kind: 'kms', keyId: KMS_KEY })
})

test('the enclave’s key and signer are given together, or posted by an attested enclave', () => {
  const { INTENT_PUBKEY: _key, ENCLAVE_SIGNER: _signer, ...attested } = SERVER_ENVIRONMENT
  expect(faultsOf(attested)).toEqual({})
  expect(faultsOf({ ...attested, INTENT_PUBKEY: SERVER_ENVIRONMENT.INTENT_PUBKEY })).toEqual({
    ENCLAVE_SIGNER: 'stands with INTENT_PUBKEY, or neither does: an attested enclave posts both',
  })
})

test('the configuration names every missing variable at once, an empty one too', () => {
  expect(Object.keys(faultsOf({})).sort()).toEqual(REQUIRED)
  const empty = Object.fromEntries(REQUIRED.map((name) => [name, '']))
  expect(Object.keys(faultsOf(empty))).toHaveLength(REQUIRED.length)
})

test.each<[string, Environment, Record<string, string>]>([
  [
    'five equal contract addresses',
    Object.fromEntries(CONTRACTS.map((name) => [name, SERVER_ENVIRONMENT.ORDER_ESCROW_ADDRESS])),
    Object.fromEntries(CONTRACTS.slice(1).map((name) => [name, two('INSTITUTION_REGISTRY_ADDRESS')])),
  ],
  [
    'a contract as the enclave’s signer',
    { ENCLAVE_SIGNER: SERVER_ENVIRONMENT.PLATFORM_POOL_ADDRESS },
    { ENCLAVE_SIGNER: two('PLATFORM_POOL_ADDRESS') },
  ],
  [
    'the relayer as the enclave’s signer',
    { ENCLAVE_SIGNER: computeAddress(ONE_KEY) },
    { ENCLAVE_SIGNER: "is an account of the relayer's keys: the enclave's key belongs to the enclave alone" },
  ],
  [
    'the key to seal to as the enclave’s signer',
    { ENCLAVE_SIGNER: computeAddress(SERVER_ENVIRONMENT.INTENT_PUBKEY) },
    { INTENT_PUBKEY: 'is of the same key as ENCLAVE_SIGNER: each needs a key of its own' },
  ],
  [
    'one secret for the relay and for the runs',
    { RELAY_AUTH_TOKEN: RUN_SECRET },
    { ENCLAVE_TRIGGER_SECRET: two('RELAY_AUTH_TOKEN') },
  ],
  [
    'one node under two spellings',
    { RPC_URL: 'http://127.0.0.1:8545, http://localhost:8545/' },
    { RPC_URL: 'names one node twice: a second one must be another' },
  ],
  [
    'the keys of several relayers, which earlier versions took',
    { RELAYER_PRIVATE_KEY: `${ONE_KEY}, 0x${'0b'.repeat(32)}` },
    { RELAYER_PRIVATE_KEY: 'names several accounts: the relayer has one, so name its key alone' },
  ],
  [
    'two places of the relayer’s key',
    { RELAYER_KMS_KEY_ID: KMS_KEY },
    { RELAYER_KMS_KEY_ID: 'stands beside RELAYER_PRIVATE_KEY: set one of the two' },
  ],
  [
    'one port for operator and public',
    { PORT: '8001', OPS_PORT: '8001' },
    { OPS_PORT: "is PORT too: the operator's endpoints need a port of their own" },
  ],
  ...['PORT', 'OPS_PORT'].map((name): [string, Environment, Record<string, string>] => [
    `the enclave’s port as ${name}`,
    { RELAY_PORT: '8002', [name]: '8002' },
    { RELAY_PORT: "is PORT or OPS_PORT too: the enclave's requests need a port of their own" },
  ]),
  [
    'runs so seldom that a rulebook would never get its turn',
    { ENCLAVE_TRIGGER_INTERVAL: '150s' },
    { ENCLAVE_TRIGGER_INTERVAL: 'is not shorter than POLICY_RUN_TIMEOUT' },
  ],
  [
    'an enclave elsewhere without its secret, and certificates that are not checked',
    { ENCLAVE_TRIGGER_SECRET: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    {
      ENCLAVE_TRIGGER_SECRET: 'is missing: ENCLAVE_URL needs it',
      NODE_TLS_REJECT_UNAUTHORIZED: 'turns off the check of certificates: remove it',
    },
  ],
  [
    'a database of several servers with an enclave of one',
    { ENCLAVE_URL: '', ENCLAVE_TRIGGER_SECRET: '', DATABASE_URL },
    { DATABASE_URL: 'stands without ENCLAVE_URL: an enclave that a server starts is for that server alone' },
  ],
])('the configuration refuses %s, and names the pair', (_what, variables, faults) => {
  expect(faultsWith(variables)).toEqual(faults)
})

test.each<[string, Environment]>([
  ['any free ports', { PORT: '0', OPS_PORT: '0', RELAY_PORT: '0' }],
  ['one provider’s nodes for two keys', { RPC_URL: 'https://node.example/v3/a, https://node.example/v3/b' }],
  ['rare runs with patience', { ENCLAVE_TRIGGER_INTERVAL: '60s', POLICY_RUN_TIMEOUT: '300s' }],
  ...[
    'https://enclave.example',
    'http://127.3.2.1',
    'http://localhost:8700/',
    'http://[::1]:8700',
    'unix:/run/enclave/door.sock',
  ].map((ENCLAVE_URL): [string, Environment] => [`an enclave at ${ENCLAVE_URL}`, { ENCLAVE_URL }]),
  ...[
    'postgres://user:password@db.example/database?sslmode=verify-full',
    'postgres://user:password@[::1]/database',
    'postgres://user:password@%2Frun%2Fpostgresql/database',
    'postgres:///database?host=/run/postgresql',
  ].map((url): [string, Environment] => [`a database at ${url}`, { DATABASE_URL: url }]),
])('the configuration takes %s', (_what, variables) => {
  expect(faultsWith(variables)).toEqual({})
})

const REFUSED: Record<string, string[]> = {
  PORT: ['-1', '8000.5', '0x10', '1e3'],
  ORDER_RUN_TIMEOUT: ['89s'],
  HOST: ['two hosts'],
  FRONTEND_ORIGIN: [
    '*',
    'null',
    'http://localhost:5173/',
    'http://localhost:80',
    'HTTP://localhost:5173',
    'http://a.example,http://b.example',
    'http://desk.example',
  ],
  RELAY_AUTH_TOKEN: ['x'.repeat(31), `${'x'.repeat(40)} y`],
  INTENT_PUBKEY: [`0x02${'ff'.repeat(32)}`, `0x${'02'.repeat(32)}`],
  ENCLAVE_SIGNER: ['0xf39fd6e51aad88F6F4ce6aB8827279cffFb92266', `0x${'00'.repeat(20)}`],
  RELAYER_PRIVATE_KEY: [`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, '11'.repeat(32), `${ONE_KEY},`],
  RELAYER_KMS_KEY_ID: ['a key with spaces'],
  RELAY_DAILY_GAS: ['-1'],
  RPC_URL: [
    'localhost:8545',
    'https://a.example,,https://b.example',
    'https://a.example,http://b.example',
    'ws://a.example',
  ],
  ALPACA_TRADING_URL: ['http://paper-api.alpaca.markets'],
  CHAIN_ID: ['0', 'mainnet', '4503599627370477'],
  ORDER_ESCROW_ADDRESS: ['0x1234'],
  RATE_LIMIT_PER_MINUTE: ['0'],
  RPC_TIMEOUT: ['20', '0s', '1000h'],
  ALPACA_KEY_ID: ['two words'],
  LOG_LEVEL: ['verbose'],
  TRUST_PROXY: ['true'],
  ENCLAVE_URL: [
    'http://enclave.example',
    'http://10.0.0.7',
    'http://127.0.0.1.example',
    'https://user:word@enclave.example',
    'unix:door.sock',
    'https://a.example,https://b.example,https://c.example',
    'https://a.example,https://a.example',
    `unix:/${'x'.repeat(107)}`,
  ],
  ENCLAVE_TRIGGER_SECRET: [
    `whsec_${Buffer.alloc(23, 7).toString('base64')}`,
    `whsec_${Buffer.alloc(65, 7).toString('base64')}`,
  ],
  DATABASE_URL: [
    'mysql://user:password@127.0.0.1/database',
    'host=127.0.0.1 dbname=database',
    'postgres://user:password@db.example/database',
    'postgres://user:password@db.example/database?sslmode=require',
    'postgres://user:password@127.0.0.1/database?host=db.example',
    'postgres://user:password@%zz/database',
  ],
}
const refused = Object.entries(REFUSED).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
)

test.each(refused)('the configuration refuses %s=%s alone, without quoting it', (name, value) => {
  const base = name === 'RELAYER_KMS_KEY_ID' ? OWN : SERVER_ENVIRONMENT
  const faults = faultsOf({ ...base, [name]: value })
  expect(Object.keys(faults)).toEqual([name])
  if (value.length > 4) expect(faults[name]).not.toContain(value)
})

test('secrets do not show when the configuration is printed or serialized', () => {
  const secrets = {
    DATABASE_URL: 'postgres://user:canary-password@db.example/canary?sslmode=verify-full',
    RELAY_AUTH_TOKEN: 'canary-token-canary-token-canary-token',
    RELAYER_PRIVATE_KEY: `0x${'ca'.repeat(32)}`,
    ALPACA_KEY_ID: 'canary-key-id',
    ALPACA_SECRET_KEY: 'canary-secret-key',
    RPC_URL: 'https://node.example/canary-rpc-key',
  }
  const config = readConfig({ ...SERVER_ENVIRONMENT, ...secrets })
  const asText = (_name: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
  const shown = [inspect(config, { depth: 9, showHidden: true }), JSON.stringify(config, asText)]
  expect([...shown, `${config.relay.authToken}`].join()).not.toMatch(/canary|(ca){8}/)
  expect(config.relay.authToken.reveal()).toBe(secrets.RELAY_AUTH_TOKEN)
})

describe('loadConfig', () => {
  async function envFile(text: string): Promise<string> {
    const path = join(await temporaryDirectory(), 'server.env')
    await writeFile(path, text, { mode: 0o600 })
    return path
  }
  const { PORT: _port, ...rest } = SERVER_ENVIRONMENT

  test('reads the file that ENV_FILE names; the environment wins, and stays as it is', async () => {
    const path = await envFile('PORT=8001\nLOG_LEVEL=debug\nTRUST_PROXY=3\nMAX_UNDER_WAY=77\n')
    const config = loadConfig({ ...rest, ENV_FILE: path, LOG_LEVEL: 'warn', TRUST_PROXY: '' })
    expect(config.http).toMatchObject({ port: 8_001, trustProxy: 3, maxUnderWay: 77 })
    expect(config.logLevel).toBe('warn')
    expect(process.env.MAX_UNDER_WAY).toBeUndefined()
  })

  test('refuses names in the file that are no variable of the server, and takes them in the environment', async () => {
    const path = await envFile('PORT=8003\nRELAYER_PRIVATEKEY=canary\nc2VjcmV0==\n')
    const problem = `is no variable of this program: correct or remove it in ${path}`
    expect(() => loadConfig({ ...rest, ENV_FILE: path })).toThrow(
      `RELAYER_PRIVATEKEY: ${problem}\nA line: ${problem}`,
    )
    await writeFile(path, 'PORT=8003\n')
    expect(loadConfig({ ...rest, ENV_FILE: path, RELAYER_PRIVATEKEY: 'canary' }).http.port).toBe(8_003)
  })

  test('refuses a variable of an earlier version, in the file and in the environment: the fault says what to do', async () => {
    const fault = /^MAX_WAIT: is gone: remove it\. MAX_UNDER_WAY bounds/
    const ENV_FILE = await envFile('MAX_WAIT=50ms\n')
    expect(() => loadConfig({ ...rest, ENV_FILE })).toThrow(fault)
    expect(() => readConfig({ ...SERVER_ENVIRONMENT, MAX_WAIT: '50ms' })).toThrow(fault)
  })

  test('refuses a file of a secret that is shared, empty or missing, a second value, and a file of what is no secret', async () => {
    const { RELAY_AUTH_TOKEN, ...others } = rest
    const file = await envFile(RELAY_AUTH_TOKEN)
    const faultOf = (environment: Environment) => () => loadConfig({ ...others, ...environment })
    expect(faultOf({ RELAY_AUTH_TOKEN, RELAY_AUTH_TOKEN_FILE: file })).toThrow(
      /^RELAY_AUTH_TOKEN: is set, and so is RELAY_AUTH_TOKEN_FILE: remove one of them$/,
    )
    expect(faultOf({ RELAY_AUTH_TOKEN_FILE: '/nowhere/token' })).toThrow(
      /^RELAY_AUTH_TOKEN_FILE: \/nowhere\/token cannot be read$/,
    )
    const empty = await envFile('\n')
    expect(faultOf({ RELAY_AUTH_TOKEN_FILE: empty })).toThrow(`RELAY_AUTH_TOKEN_FILE: ${empty} is empty`)
    await chmod(file, 0o640)
    expect(faultOf({ RELAY_AUTH_TOKEN_FILE: file })).toThrow(/^RELAY_AUTH_TOKEN_FILE: others .* chmod 600 /)
    const ENV_FILE = await envFile(`PORT_FILE=${file}\n`)
    expect(faultOf({ RELAY_AUTH_TOKEN, ENV_FILE })).toThrow(/^PORT_FILE: is no variable of this program/)
    expect(faultOf({ ENV_FILE: '/nowhere/.env' })).toThrow(/^ENV_FILE: /)
  })
})

const file = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

test('.env.example as it stands leaves only what is empty to fill in, and its defaults are valid', () => {
  const uncommented = file.replace(/^# ([A-Z][A-Z0-9_]*=)/gm, '$1')
  const variables = parse(uncommented)
  const empty = Object.keys(variables).filter((name) => variables[name] === '')
  try {
    readConfig(variables)
    expect.unreachable()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    expect(empty).toEqual(expect.arrayContaining(error.faults.map(({ name }) => name)))
    expect(error.faults.every(({ problem }) => problem === 'is missing')).toBe(true)
  }
})

test('settings that differ from it are named with their usual values, but for secrets and what each installation fills in', () => {
  const own = { RELAY_AUTH_TOKEN: 'token', DATABASE_URL: 'postgres://u:p@host/db', ENCLAVE_SIGNER: '0x12' }
  const changed = { PORT: '9000', HOST: '127.0.0.1', REQUEST_TIMEOUT: '1m', MAX_UNDER_WAY: '3000' }
  expect(differencesOf(environmentSchema, { ...parse(file), ...own, ...changed })).toEqual([
    'PORT=9000 [8000]',
    'HOST=127.0.0.1 [unset]',
    'REQUEST_TIMEOUT=1m [30s]',
  ])
})
