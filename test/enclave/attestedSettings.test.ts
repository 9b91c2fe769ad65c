import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { configurationOf } from '../../src/attestation/write.js'
import { VERSION } from '../../src/enclave/attested/evidence.js'
import { assertNotSteered, attestedSettings } from '../../src/enclave/attested/settings.js'
import { readSettings } from '../../src/enclave/commonConfig.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { readVersion } from '../../src/service/version.js'
import { enclaveEnvironment } from './support/environment.js'
import { KEYS } from './support/parties.js'

/** Settings that decide neither about money nor about secrecy. */
const HARMLESS = [
  // How long something waits. The program bounds each, and decides about money by none.
  ...['BROKER_CLOCK_MAX_AGE', 'CHAIN_DEPTH_WAIT', 'RPC_TIMEOUT', 'RELAY_TIMEOUT'],
  ...['RELAY_RETRY_AFTER', 'CONFIRM_POLL_INTERVAL', 'FILL_WAIT'],
  'AMBIGUOUS_RETRY_AFTER',
  // Only a command of the operator reads it.
  'BROKER_FEES_EARLIER',
  // What goes there is public or sealed.
  ...['RELAY_URL', 'RELAY_AUTH_TOKEN'],
  // Who may post jobs, whose content is sealed, and how many; the log shows a list of fields at any level.
  ...['ENCLAVE_LISTEN', 'ENCLAVE_TRIGGER_SECRET', 'ENCLAVE_STATE_DIR', 'MAX_RUNS', 'LOG_LEVEL'],
  // The evidence says what the program runs on, and only what it has read of its own document counts.
  'ATTESTATION_PLATFORM',
]

const OF_FILES = /^(?:LEDGER_MASTER_KEY|INTENT_PRIVATE_KEY|ENCLAVE_PRIVATE_KEY|ALPACA_.*KEY.*)$/
const environment = Object.fromEntries(
  Object.entries(enclaveEnvironment).filter(([name]) => !OF_FILES.test(name)),
)
const HOLDERS = [1, 2, 3].map((digit) => publicKeyOf(new Uint8Array(32).fill(digit)))
const SETTINGS = attestedSettings(['nitrotpm'])
const read = (changes: Record<string, string>) =>
  readSettings(SETTINGS, {
    ...environment,
    RPC_WITNESS_URL: 'https://witness.example',
    ALPACA_ACCOUNT_ID: '904837E3-3b76-47ec-b432-046db621571b',
    ATTESTATION_PLATFORM: 'nitrotpm',
    MASTER_KEY_HOLDERS: HOLDERS.join(),
    MASTER_KEY_THRESHOLD: '2',
    ...changes,
  })

const config = read({
  RPC_URL: 'https://node.example/v3/the-key, https://user:the-key@second.example:8545',
  RPC_WITNESS_URL: 'https://witness.example?the-key',
})

/** Hosts that are too long together. */
const MANY_NODES = Array.from(
  { length: 45 },
  (_, index) => `https://${'n'.repeat(50)}.example:${1_000 + index}`,
)

it('every setting of an attested enclave is in its statement, or harmless', () => {
  const stated = [...Object.keys(configurationOf(config)), ...HARMLESS]
  expect(stated.sort()).toEqual(Object.keys(SETTINGS.schema.shape).sort())
})

it('the statement has the hosts of nodes, and no key that a URL carries', () => {
  const configuration = configurationOf(config)
  expect(configuration).toMatchObject({
    RPC_URL: 'node.example,second.example:8545',
    RPC_WITNESS_URL: 'witness.example',
    ALPACA_ACCOUNT_ID: '904837e3-3b76-47ec-b432-046db621571b',
  })
  expect(JSON.stringify(configuration)).not.toContain('the-key')
})

it.each<[string, Record<string, string>, string]>([
  [
    'a key of a file',
    { LEDGER_MASTER_KEY: KEYS.master },
    'LEDGER_MASTER_KEY: is for an enclave whose keys are in files',
  ],
  ['a key of the broker', { ALPACA_SECRET_KEY: 'secret' }, 'remove it. The first holder gives it'],
  ['no account at the broker', { ALPACA_ACCOUNT_ID: '' }, 'ALPACA_ACCOUNT_ID: is missing'],
  ['no witness', { RPC_WITNESS_URL: '' }, 'RPC_WITNESS_URL: is missing'],
  ['the platform of tests', { ATTESTATION_PLATFORM: 'test' }, 'ATTESTATION_PLATFORM: expected nitrotpm'],
  [
    'one holder',
    { MASTER_KEY_HOLDERS: HOLDERS[0] ?? '' },
    'MASTER_KEY_HOLDERS: expected 2 to 16 public keys',
  ],
  ['one share', { MASTER_KEY_THRESHOLD: '1' }, 'MASTER_KEY_THRESHOLD: expected an integer from 2 to 16'],
  ['more shares than holders', { MASTER_KEY_THRESHOLD: '4' }, 'is above the number of MASTER_KEY_HOLDERS'],
  [
    'a statement that would be too long',
    { RPC_URL: MANY_NODES.join() },
    'a statement of more than 4096 characters',
  ],
])('an attested enclave does not start with %s', (_what, changes, fault) => {
  expect(() => read(changes)).toThrow(fault)
})

it.each([
  // An authority of his own would be broker and node.
  ...['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'NODE_TLS_REJECT_UNAUTHORIZED', 'SSL_CERT_FILE'],
  ...['SSL_CERT_DIR', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
  // Code that nobody measured.
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_COMPILE_CACHE', 'LD_PRELOAD', 'LD_LIBRARY_PATH'],
  // It prints each request, the broker's keys among them.
  ...['NODE_DEBUG', 'NODE_DEBUG_NATIVE'],
])('an operator who steers Node by %s, from the volume of the env file, gets no start', (name) => {
  const ofImage = { PATH: '/bin', NODE_ENV: 'production', NODE_VERSION: '26.10.0' }
  assertNotSteered({ ...ofImage, [name]: '' })
  const fault = `${name}: steers Node from outside of the measured image`
  expect(() => assertNotSteered({ ...ofImage, [name]: 'https' })).toThrow(fault)
})

it('an attested enclave states the version of its package', () => {
  expect(VERSION).toBe(readVersion())
})

it('the program of an attested enclave has no part that reads keys from files, and the sandbox alone has its device', async () => {
  const settings = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  } as const
  const inputsOf = async (entry: string) => {
    const { metafile } = await build({ ...settings, entryPoints: [entry], metafile: true })
    return Object.keys(metafile.inputs)
  }
  const inputs = await inputsOf('src/enclave/attested/main.ts')
  expect(inputs).toContain('src/enclave/attested/gathering.ts')
  for (const path of ['src/enclave/config.ts', 'src/enclave/configSchema.ts'])
    expect(inputs).not.toContain(path)
  expect(inputs.filter((path) => path.startsWith('src/sandbox'))).toEqual([])
  expect(await inputsOf('src/enclave/main.ts')).not.toContain('src/enclave/attested/program.ts')
})
