import { chmod, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import { computeAddress } from 'ethers'
import { describe, expect, test } from 'vitest'
import { ADDRESS_VARIABLES } from '../../../src/chain/contracts.js'
import { loadConfig, readConfig } from '../../../src/server/config/config.js'
import { ConfigError, type Environment } from '../../../src/service/config.js'
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

const REQUIRED = [
  'ALPACA_KEY_ID',
  'ALPACA_SECRET_KEY',
  'CHAIN_ID',
  'CONFIDENTIAL_LEDGER_ADDRESS',
  'ENCLAVE_SIGNER',
  'EQUITY_TOKEN_ADDRESS',
  'FRONTEND_ORIGIN',
  'INSTITUTION_REGISTRY_ADDRESS',
  'INTENT_PUBKEY',
  'ORDER_ESCROW_ADDRESS',
  'PLATFORM_POOL_ADDRESS',
  'RELAYER_PRIVATE_KEY',
  'RELAY_AUTH_TOKEN',
  'RPC_URL',
]

const CONTRACTS = Object.values(ADDRESS_VARIABLES)

describe('readConfig', () => {
  test('fills in the defaults', () => {
    const entries = Object.entries(SERVER_ENVIRONMENT)
    const config = readConfig(Object.fromEntries(entries.filter(([name]) => REQUIRED.includes(name))))
    expect(config.http).toMatchObject({ port: 8_000, host: undefined, bodyLimitBytes: 65_536, trustProxy: 0 })
    expect(config.ops).toEqual({ port: 8_001, host: '127.0.0.1' })
    expect(config.dataDir).toBe(resolve('data'))
    expect(config.broker).toMatchObject({
      tradingUrl: 'https://paper-api.alpaca.markets',
      dataUrl: 'https://data.alpaca.markets',
    })
    expect(config.enclave).toMatchObject({
      trigger: {
        kind: 'resident',
        program: resolve('dist/enclave/main.js'),
        envFile: resolve('.env.enclave'),
        directory: resolve('data/enclave'),
      },
      maxRuns: 240,
    })
    expect(config.enclave.triggerIntervalMs).toBe(0)
  })

  test('names every missing variable at once, an empty one too', () => {
    expect(Object.keys(faultsOf({})).sort()).toEqual(REQUIRED)
    expect(Object.keys(faultsOf(Object.fromEntries(REQUIRED.map((name) => [name, '']))))).toHaveLength(
      REQUIRED.length,
    )
  })

  test("takes the relayer's key from one place: a private key, or AWS KMS", () => {
    const { RELAYER_PRIVATE_KEY, ...rest } = SERVER_ENVIRONMENT
    const RELAYER_KMS_KEY_ID = 'arn:aws:kms:eu-central-1:111122223333:alias/relayer'
    expect(readConfig(SERVER_ENVIRONMENT).relay.relayerKeys).toMatchObject([{ kind: 'private-key' }])
    expect(readConfig({ ...rest, RELAYER_KMS_KEY_ID }).relay.relayerKeys).toEqual([
      { kind: 'kms', keyId: RELAYER_KMS_KEY_ID },
    ])
    expect(faultsOf({ ...rest, RELAYER_KMS_KEY_ID, RELAYER_PRIVATE_KEY })).toEqual({
      RELAYER_KMS_KEY_ID: 'stands beside RELAYER_PRIVATE_KEY: set one of the two',
    })
    expect(faultsOf(rest)).toEqual({ RELAYER_PRIVATE_KEY: 'is missing' })
  })

  test('takes several keys of the relayer, each once', () => {
    const { RELAYER_PRIVATE_KEY: one, ...rest } = SERVER_ENVIRONMENT
    const other = `0x${'0b'.repeat(32)}`
    const keys = readConfig({ ...rest, RELAYER_PRIVATE_KEY: `${one}, ${other}` }).relay.relayerKeys
    expect(keys.map((key) => key.kind === 'private-key' && key.privateKey.reveal())).toEqual([one, other])
    expect(readConfig({ ...rest, RELAYER_KMS_KEY_ID: 'alias/a,alias/b' }).relay.relayerKeys).toEqual([
      { kind: 'kms', keyId: 'alias/a' },
      { kind: 'kms', keyId: 'alias/b' },
    ])
    expect(faultsOf({ ...rest, RELAYER_PRIVATE_KEY: `${one},${one}` })).toEqual({
      RELAYER_PRIVATE_KEY: 'has a value twice',
    })
    expect(Object.keys(faultsOf({ ...rest, RELAYER_PRIVATE_KEY: `${one},` }))).toEqual([
      'RELAYER_PRIVATE_KEY',
    ])
  })

  test('keeps the operator’s port apart from the public one, unless both are any that is free', () => {
    const ports = (PORT: string, OPS_PORT: string) => faultsOf({ ...SERVER_ENVIRONMENT, PORT, OPS_PORT })
    expect(ports('8001', '8001')).toEqual({
      OPS_PORT: "is PORT too: the operator's endpoints need a port of their own",
    })
    expect(ports('0', '0')).toEqual({})
    expect(ports('8001', '8002')).toEqual({})
  })

  test.each(['PORT', 'OPS_PORT'])('keeps the enclave’s port apart from %s', (name) => {
    const problem = "is PORT or OPS_PORT too: the enclave's requests need a port of their own"
    const ports = { RELAY_PORT: '8002', [name]: '8002' }
    expect(faultsOf({ ...SERVER_ENVIRONMENT, ...ports })).toEqual({ RELAY_PORT: problem })
    expect(faultsOf({ ...SERVER_ENVIRONMENT, ...ports, RELAY_PORT: '8003' })).toEqual({})
  })

  test.each<[string, Environment, Record<string, string>]>([
    [
      'five equal contract addresses',
      Object.fromEntries(CONTRACTS.map((name) => [name, SERVER_ENVIRONMENT.ORDER_ESCROW_ADDRESS])),
      Object.fromEntries(
        CONTRACTS.slice(1).map((name) => [name, 'is INSTITUTION_REGISTRY_ADDRESS too: the two must differ']),
      ),
    ],
    [
      'a contract as the enclave’s signer',
      { ENCLAVE_SIGNER: SERVER_ENVIRONMENT.PLATFORM_POOL_ADDRESS },
      { ENCLAVE_SIGNER: 'is PLATFORM_POOL_ADDRESS too: the two must differ' },
    ],
    [
      'the relayer as the enclave’s signer',
      { ENCLAVE_SIGNER: computeAddress(SERVER_ENVIRONMENT.RELAYER_PRIVATE_KEY) },
      {
        ENCLAVE_SIGNER: "is an account of the relayer's keys: the enclave's key belongs to the enclave alone",
      },
    ],
    [
      'one secret for the relay and for the runs',
      { RELAY_AUTH_TOKEN: RUN_SECRET },
      { ENCLAVE_TRIGGER_SECRET: 'is RELAY_AUTH_TOKEN too: the two must differ' },
    ],
    [
      'the id of the broker’s key as its secret',
      { ALPACA_SECRET_KEY: SERVER_ENVIRONMENT.ALPACA_KEY_ID },
      { ALPACA_SECRET_KEY: 'is ALPACA_KEY_ID too: the two must differ' },
    ],
    [
      'one node under two spellings',
      { RPC_URL: 'http://127.0.0.1:8545, http://localhost:8545/' },
      { RPC_URL: 'names one node twice: a second one must be another' },
    ],
  ])('refuses %s, and names the pair', (_what, variables, faults) => {
    expect(faultsOf({ ...SERVER_ENVIRONMENT, ...variables })).toEqual(faults)
  })

  test('takes one provider’s nodes for two keys', () => {
    const RPC_URL = 'https://node.example/v3/a, https://node.example/v3/b'
    expect(faultsOf({ ...SERVER_ENVIRONMENT, RPC_URL })).toEqual({})
  })

  test('names missing and malformed ones together', () => {
    const { RPC_URL, ...rest } = SERVER_ENVIRONMENT
    const faults = faultsOf({
      ...rest,
      PORT: '80000',
      RELAY_AUTH_TOKEN: 'short',
      EQUITY_TOKEN_ADDRESS: rest.ORDER_ESCROW_ADDRESS.toUpperCase().replace('0X', '0x'),
    })
    expect(RPC_URL).toBeDefined()
    expect(Object.keys(faults).sort()).toEqual([
      'EQUITY_TOKEN_ADDRESS',
      'PORT',
      'RELAY_AUTH_TOKEN',
      'RPC_URL',
    ])
    expect(faults.RPC_URL).toBe('is missing')
    expect(faults.EQUITY_TOKEN_ADDRESS).toBe('is ORDER_ESCROW_ADDRESS too: the two must differ')
  })

  test.each([
    ['PORT', '-1'],
    ['ORDER_RUN_TIMEOUT', '89s'],
    ['PORT', '8000.5'],
    ['PORT', '0x10'],
    ['PORT', '1e3'],
    ['HOST', 'two hosts'],
    ['FRONTEND_ORIGIN', '*'],
    ['FRONTEND_ORIGIN', 'null'],
    ['FRONTEND_ORIGIN', 'http://localhost:5173/'],
    ['FRONTEND_ORIGIN', 'http://localhost:80'],
    ['FRONTEND_ORIGIN', 'HTTP://localhost:5173'],
    ['FRONTEND_ORIGIN', 'http://a.example,http://b.example'],
    ['FRONTEND_ORIGIN', 'ftp://a.example'],
    ['RELAY_AUTH_TOKEN', 'x'.repeat(31)],
    ['RELAY_AUTH_TOKEN', `${'x'.repeat(40)} y`],
    ['INTENT_PUBKEY', `0x02${'ff'.repeat(32)}`],
    ['INTENT_PUBKEY', `0x${'02'.repeat(32)}`],
    ['ENCLAVE_SIGNER', '0xf39fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    ['ENCLAVE_SIGNER', `0x${'00'.repeat(20)}`],
    ['RELAYER_PRIVATE_KEY', `0x${'00'.repeat(32)}`],
    ['RELAYER_PRIVATE_KEY', `0x${'ff'.repeat(32)}`],
    ['RELAYER_PRIVATE_KEY', '11'.repeat(32)],
    ['RELAYER_PRIVATE_KEY', `0x${'11'.repeat(31)}`],
    ['RELAYER_KMS_KEY_ID', 'a key with spaces'],
    ['RELAY_DAILY_GAS', '-1'],
    ['RPC_URL', 'localhost:8545'],
    ['RPC_URL', 'https://a.example,,https://b.example'],
    ['RPC_URL', 'https://a.example,http://b.example'],
    ['RPC_URL', 'http://192.168.0.7:8545'],
    ['ALPACA_TRADING_URL', 'http://paper-api.alpaca.markets'],
    ['FRONTEND_ORIGIN', 'http://desk.example'],
    ['RPC_URL', 'ws://a.example'],
    ['CHAIN_ID', '0'],
    ['CHAIN_ID', 'mainnet'],
    ['CHAIN_ID', '4503599627370477'],
    ['CHAIN_ID', '9007199254740993'],
    ['ORDER_ESCROW_ADDRESS', '0x1234'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['RPC_TIMEOUT', '20'],
    ['RPC_TIMEOUT', '0s'],
    ['RPC_TIMEOUT', '1000h'],
    ['ALPACA_DATA_URL', 'data.alpaca.markets'],
    ['ALPACA_KEY_ID', 'two words'],
    ['LOG_LEVEL', 'verbose'],
    ['TRUST_PROXY', 'true'],
    ['DATABASE_URL', 'mysql://user:password@127.0.0.1/database'],
    ['DATABASE_URL', 'host=127.0.0.1 dbname=database'],
    ['DATABASE_URL', 'postgres://user:password@db.example/database'],
    ['DATABASE_URL', 'postgres://user:password@db.example/database?sslmode=require'],
    ['DATABASE_URL', 'postgres://user:password@127.0.0.1/database?host=db.example'],
    ['DATABASE_URL', 'postgres://user:password@%zz/database'],
  ])('refuses %s=%s alone, without quoting it', (name, value) => {
    const faults = faultsOf({ ...SERVER_ENVIRONMENT, [name]: value })
    expect(Object.keys(faults)).toEqual([name])
    if (value.length > 4) expect(faults[name]).not.toContain(value)
  })

  test('parses what it takes', () => {
    const config = readConfig({
      ...SERVER_ENVIRONMENT,
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
    expect(config.enclave.intentPublicKey).toBe(SERVER_ENVIRONMENT.INTENT_PUBKEY)
    expect(config.enclave.signer).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
  })
})

describe('an enclave at a URL', () => {
  const http = {
    ...SERVER_ENVIRONMENT,
    ENCLAVE_URL: 'https://enclave.example/trigger?key=1',
    ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
  }

  test('is what jobs are posted to', () => {
    const { trigger, triggerIntervalMs } = readConfig({ ...http, ENCLAVE_TRIGGER_INTERVAL: '50s' }).enclave
    if (trigger.kind !== 'http') throw new Error('no enclave at a URL')
    expect(trigger.url.reveal()).toBe(http.ENCLAVE_URL)
    expect(trigger.secret.reveal()).toBe(RUN_SECRET)
    expect(triggerIntervalMs).toBe(50_000)
  })

  test.each([
    'https://enclave.example',
    'http://127.0.0.1:8700',
    'http://127.3.2.1',
    'http://localhost:8700/',
    'http://[::1]:8700',
    'unix:/run/enclave/door.sock',
  ])('may be at %s', (ENCLAVE_URL) => {
    expect(faultsOf({ ...http, ENCLAVE_URL })).toEqual({})
  })

  test.each([
    'http://enclave.example',
    'http://10.0.0.7',
    'http://127.0.0.1.example',
    'https://user:word@enclave.example',
    'enclave.example',
    'unix:door.sock',
    `unix:/${'x'.repeat(107)}`,
  ])('is not at %s', (ENCLAVE_URL) => {
    expect(faultsOf({ ...http, ENCLAVE_URL })).toEqual({
      ENCLAVE_URL:
        'expected an https URL without a user name, http only for this machine (127.0.0.1, [::1], localhost), or unix: and an absolute path',
    })
  })

  test.each([23, 65])('has no secret of %s bytes', (bytes) => {
    const ENCLAVE_TRIGGER_SECRET = `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
    expect(faultsOf({ ...http, ENCLAVE_TRIGGER_SECRET })).toEqual({
      ENCLAVE_TRIGGER_SECRET: 'expected whsec_ and the Base64 of 24 to 64 bytes',
    })
  })

  test.each([
    'postgres://user:password@db.example/database?sslmode=verify-full',
    'postgres://user:password@[::1]/database',
    'postgres://user:password@%2Frun%2Fpostgresql/database',
    'postgres:///database?host=/run/postgresql',
  ])('stands beside the database at %s', (DATABASE_URL) => {
    expect(faultsOf({ ...http, DATABASE_URL })).toEqual({})
  })

  test('has keys that the server does not have, and one for each thing', () => {
    const problem = 'is of the same key as ENCLAVE_SIGNER: each needs a key of its own'
    const signerOf = (key: string) => computeAddress(key)
    expect(faultsOf({ ...http, ENCLAVE_SIGNER: signerOf(http.RELAYER_PRIVATE_KEY) })).toEqual({
      ENCLAVE_SIGNER: "is an account of the relayer's keys: the enclave's key belongs to the enclave alone",
    })
    expect(faultsOf({ ...http, ENCLAVE_SIGNER: signerOf(http.INTENT_PUBKEY) })).toEqual({
      INTENT_PUBKEY: problem,
    })
  })

  test('needs its secret', () => {
    const { ENCLAVE_TRIGGER_SECRET: _secret, ...without } = http
    expect(faultsOf({ ...without, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual({
      ENCLAVE_TRIGGER_SECRET: 'is missing: ENCLAVE_URL needs it',
      NODE_TLS_REJECT_UNAUTHORIZED: 'turns off the check of certificates: remove it',
    })
  })

  test('is not triggered so seldom that a rulebook would never get its turn', () => {
    expect(faultsOf({ ...http, ENCLAVE_TRIGGER_INTERVAL: '60s' })).toEqual({
      ENCLAVE_TRIGGER_INTERVAL: 'is not shorter than POLICY_RUN_TIMEOUT',
    })
    expect(faultsOf({ ...http, ENCLAVE_TRIGGER_INTERVAL: '60s', POLICY_RUN_TIMEOUT: '300s' })).toEqual({})
  })
})

describe('an enclave that the server starts', () => {
  const { ENCLAVE_URL: _url, ENCLAVE_TRIGGER_SECRET: _secret, ...own } = SERVER_ENVIRONMENT

  test('is the default, and is the built one', () => {
    const { trigger } = readConfig({
      ...own,
      DATA_DIR: '/data',
      ENCLAVE_ENV_FILE: '/etc/enclave.env',
    }).enclave
    expect(trigger).toEqual({
      kind: 'resident',
      program: expect.stringMatching(/\/dist\/enclave\/main\.js$/),
      envFile: '/etc/enclave.env',
      directory: '/data/enclave',
    })
  })

  test('has no database of several servers', () => {
    const DATABASE_URL = 'postgresql://user:password@127.0.0.1/database'
    expect(readConfig({ ...SERVER_ENVIRONMENT, DATABASE_URL }).databaseUrl?.reveal()).toBe(DATABASE_URL)
    const problem = 'stands without ENCLAVE_URL: an enclave that a server starts is for that server alone'
    expect(faultsOf({ ...own, DATABASE_URL, ENCLAVE_TRIGGER_SECRET: RUN_SECRET })).toEqual({
      DATABASE_URL: problem,
      ENCLAVE_TRIGGER_SECRET: problem,
    })
  })
})

describe('secrets', () => {
  const secrets = {
    DATABASE_URL: 'postgres://user:canary-password@db.example/canary?sslmode=verify-full',
    RELAY_AUTH_TOKEN: 'canary-token-canary-token-canary-token',
    RELAYER_PRIVATE_KEY: `0x${'ca'.repeat(32)}`,
    ALPACA_KEY_ID: 'canary-key-id',
    ALPACA_SECRET_KEY: 'canary-secret-key',
    RPC_URL: 'https://node.example/canary-rpc-key',
  }
  const planted = /canary|(ca){8}/

  test('do not show when the configuration is printed or serialized', () => {
    const config = readConfig({ ...SERVER_ENVIRONMENT, ...secrets })
    expect(inspect(config, { depth: 9, showHidden: true })).not.toMatch(planted)
    expect(JSON.stringify(config, bigintAsText)).not.toMatch(planted)
    expect(`${config.relay.authToken}`).not.toMatch(planted)
    expect(config.relay.authToken.reveal()).toBe(secrets.RELAY_AUTH_TOKEN)
  })

  test('do not show in a fault, under any wrong name', () => {
    for (const value of Object.values(secrets)) {
      const environment = Object.fromEntries(
        Object.keys(SERVER_ENVIRONMENT).map((name) => [name, `${value} ~`]),
      )
      try {
        readConfig(environment)
        expect.unreachable()
      } catch (error) {
        expect(inspect(error, { depth: 9 })).not.toMatch(planted)
      }
    }
  })
})

describe('loadConfig', () => {
  async function envFile(text: string): Promise<string> {
    const path = join(await temporaryDirectory(), 'server.env')
    await writeFile(path, text, { mode: 0o600 })
    return path
  }
  const { PORT, ...rest } = SERVER_ENVIRONMENT

  test('reads the file that ENV_FILE names; the environment wins; an empty variable is none', async () => {
    const path = await envFile('PORT=8001\nLOG_LEVEL=debug\nTRUST_PROXY=3\n')
    const config = loadConfig({ ...rest, ENV_FILE: path, LOG_LEVEL: 'warn', TRUST_PROXY: '' })
    expect(PORT).toBeDefined()
    expect(config.http.port).toBe(8_001)
    expect(config.logLevel).toBe('warn')
    expect(config.http.trustProxy).toBe(3)
  })

  test('leaves the environment of the process alone', async () => {
    const path = await envFile('PORT=8002\nMAX_UNDER_WAY=77\n')
    expect(loadConfig({ ...rest, ENV_FILE: path }).http.maxUnderWay).toBe(77)
    expect(process.env.MAX_UNDER_WAY).toBeUndefined()
  })

  test('refuses names in the file that are no variable of the server, and takes them in the environment', async () => {
    const path = await envFile('PORT=8003\nRELAYER_PRIVATEKEY=canary\nc2VjcmV0==\n')
    const faults = () => {
      try {
        return loadConfig({ ...rest, ENV_FILE: path }) && []
      } catch (error) {
        if (error instanceof ConfigError) return error.faults
        throw error
      }
    }
    const problem = `is no variable of this program: correct or remove it in ${path}`
    expect(faults()).toEqual([
      { name: 'RELAYER_PRIVATEKEY', problem },
      { name: 'A line', problem },
    ])
    await writeFile(path, 'PORT=8003\n')
    expect(loadConfig({ ...rest, ENV_FILE: path, RELAYER_PRIVATEKEY: 'canary' }).http.port).toBe(8_003)
  })

  test('refuses a variable of an earlier version, in the file and in the environment: the fault says what to do', async () => {
    const fault = /^MAX_WAIT: is gone: remove it\. The server measures/
    const ENV_FILE = await envFile('MAX_WAIT=50ms\n')
    expect(() => loadConfig({ ...rest, ENV_FILE })).toThrow(fault)
    expect(() => readConfig({ ...SERVER_ENVIRONMENT, MAX_WAIT: '50ms' })).toThrow(fault)
    expect(faultsOf({ ...SERVER_ENVIRONMENT, ENCLAVE_TRIGGER: 'process', RELAY_WAIT: '5s' })).toEqual({
      ENCLAVE_TRIGGER: expect.stringContaining('With ENCLAVE_URL the server posts jobs there'),
      RELAY_WAIT:
        'is no setting any more: remove it. It is 20s, and less where a caller says so (Prefer: wait=5)',
    })
  })

  test('reads a secret from the file that its variable names, in the environment or in the file', async () => {
    const { RELAY_AUTH_TOKEN = '', ALPACA_SECRET_KEY = '', ...others } = rest
    const [token, key] = [await envFile(`${RELAY_AUTH_TOKEN}\n`), await envFile(ALPACA_SECRET_KEY)]
    const ENV_FILE = await envFile(`PORT=8004\nALPACA_SECRET_KEY_FILE=${key}\n`)
    const config = loadConfig({ ...others, ENV_FILE, RELAY_AUTH_TOKEN_FILE: token })
    expect(config.relay.authToken.reveal()).toBe(RELAY_AUTH_TOKEN)
    expect(config.broker.secretKey.reveal()).toBe(ALPACA_SECRET_KEY)
  })

  test('refuses a file of a secret that is shared, empty or missing, a second value, and a file of what is no secret', async () => {
    const { RELAY_AUTH_TOKEN = '', ...others } = rest
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
  })

  test('a named file that is not there is a fault', () => {
    expect(() => loadConfig({ ...SERVER_ENVIRONMENT, ENV_FILE: '/nowhere/.env' })).toThrow(/^ENV_FILE: /)
  })
})

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
