import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { expect, it } from 'vitest'
import { ADDRESS_VARIABLES } from '../../src/chain/contracts.js'
import { loadConfig, readConfig } from '../../src/enclave/config.js'
import { ConfigError } from '../../src/service/config.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { enclaveEnvironment } from './support/environment.js'

const file = readFileSync(new URL('../../.env.enclave.example', import.meta.url), 'utf8')

function faultsOf(variables: Record<string, string | undefined>): string {
  try {
    readConfig(variables)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'none'
}

it('.env.enclave.example as it stands leaves only what is empty to fill in, and its defaults are valid', () => {
  const variables = parse(file.replace(/^# ([A-Z][A-Z0-9_]*=)/gm, '$1'))
  const faults = faultsOf(variables).split('\n')
  const empty = Object.keys(variables).filter((name) => variables[name] === '')
  expect(empty.map((name) => `${name}: is missing`)).toEqual(expect.arrayContaining(faults))
})

const two = (name: string, other: string) => `${name}: is ${other} too: the two must differ`
const OWN_WITNESS = 'RPC_WITNESS_URL: names a host of RPC_URL: a witness is a node of another operator'
const OTHER_KEY = { RPC_URL: 'https://node.example/v3/a', RPC_WITNESS_URL: 'https://node.example:443/v3/b' }
it.each<[string, Record<string, string>, string]>([
  [
    'five equal contract addresses',
    Object.fromEntries(
      Object.values(ADDRESS_VARIABLES).map((name) => [name, enclaveEnvironment.ORDER_ESCROW_ADDRESS ?? '']),
    ),
    Object.values(ADDRESS_VARIABLES)
      .slice(1)
      .map((name) => two(name, 'INSTITUTION_REGISTRY_ADDRESS'))
      .join('\n'),
  ],
  [
    'one secret for broker and relay',
    { ALPACA_SECRET_KEY: enclaveEnvironment.RELAY_AUTH_TOKEN ?? '' },
    two('RELAY_AUTH_TOKEN', 'ALPACA_SECRET_KEY'),
  ],
  [
    'a second look-up of an absent order within the time of a send',
    { ABSENT_RECHECK_AFTER: '1ms' },
    'ABSENT_RECHECK_AFTER: is not longer than BROKER_TIMEOUT and 5s together: an order that is still being sent would be refunded',
  ],
  ['the node itself as its witness', { RPC_WITNESS_URL: 'http://127.0.0.1:1/' }, OWN_WITNESS],
  ['the node by another name of it', { RPC_WITNESS_URL: 'http://LOCALHOST:1/key' }, OWN_WITNESS],
  ['the node by its address of IPv6', { RPC_WITNESS_URL: 'http://[::1]:1' }, OWN_WITNESS],
  ['a provider’s other key as the witness', OTHER_KEY, OWN_WITNESS],
  [
    'one witness twice',
    { RPC_WITNESS_URL: 'https://other.example, https://other.example/' },
    'RPC_WITNESS_URL: names one node twice: a second one must be another',
  ],
  [
    'the server’s port as its own',
    { RELAY_URL: 'http://localhost:8700' },
    "ENCLAVE_LISTEN: is RELAY_URL's place too: server and enclave need a port each",
  ],
])('the configuration refuses %s, and names the pair', (_what, variables, fault) => {
  expect(faultsOf({ ...enclaveEnvironment, ...variables })).toBe(fault)
})

it('the configuration takes a witness of another operator', () => {
  const witnessed = { RPC_URL: 'https://node.example/v3/a', RPC_WITNESS_URL: 'https://other.example/v3/a' }
  expect(faultsOf({ ...enclaveEnvironment, ...witnessed })).toBe('none')
})

it('the configuration refuses a variable of an earlier version, and the fault says what to do', () => {
  expect(faultsOf({ ...enclaveEnvironment, RELAY_AGAIN_MS: '500' })).toBe(
    'RELAY_AGAIN_MS: is RELAY_RETRY_AFTER today, with a unit: 10s',
  )
})

it('the configuration reads a key from a file of its own, which the configuration names', async () => {
  const { LEDGER_MASTER_KEY = '', ...others } = enclaveEnvironment
  const directory = await temporaryDirectory()
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text, { mode: 0o600 })
    return join(directory, name)
  }
  const LEDGER_MASTER_KEY_FILE = await file('key', `${LEDGER_MASTER_KEY}\n`)
  const lines = Object.entries({ ...others, LEDGER_MASTER_KEY_FILE }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const config = loadConfig({ ENCLAVE_ENV_FILE: await file('enclave.env', lines.join('\n')) })
  expect(config.LEDGER_MASTER_KEY.reveal()).toBe(LEDGER_MASTER_KEY)
  expect(loadConfig({ ...others, LEDGER_MASTER_KEY_FILE })).toEqual(config)
})

it('the configuration has no URL that others can read along, nor a certificate that is not checked', () => {
  const plain = 'http://10.0.0.7:8545'
  const faults = faultsOf({
    ...enclaveEnvironment,
    ALPACA_TRADING_URL: 'http://paper-api.alpaca.markets',
    ALPACA_DATA_URL: 'http://data.alpaca.markets',
    RPC_URL: `https://a.example,${plain}`,
    RPC_WITNESS_URL: plain,
    RELAY_URL: 'http://server.example',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  })
  const problem = 'expected an https URL, or an http URL of this machine (127.0.0.1, [::1], localhost)'
  const names = ['ALPACA_TRADING_URL', 'ALPACA_DATA_URL', 'RPC_URL', 'RPC_WITNESS_URL', 'RELAY_URL']
  const tls = 'NODE_TLS_REJECT_UNAUTHORIZED: turns off the check of certificates: remove it'
  expect(faults.split('\n')).toEqual([...names.map((name) => `${name}: ${problem}`), tls])
})

it('the configuration acts on the head of a local test chain alone', () => {
  const problem =
    'CHAIN_DEPTH: acts on blocks that a reorganization takes back: 0 is for a local test chain (31337, 1337)'
  expect(faultsOf({ ...enclaveEnvironment, CHAIN_ID: '1' })).toBe(problem)
  expect(faultsOf({ ...enclaveEnvironment, CHAIN_ID: '1', CHAIN_DEPTH: '1' })).toBe('none')
  expect(faultsOf({ ...enclaveEnvironment, CHAIN_ID: '1337' })).toBe('none')
})
