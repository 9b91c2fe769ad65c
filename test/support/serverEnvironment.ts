import { type Config, readConfig } from '../../src/server/config/config.js'
import { duration } from '../../src/service/configKinds.js'

/** The secret that the server and its enclave share in the tests. */
export const RUN_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A complete environment of the server; every value is made up, and no server listens at its URLs. */
export const SERVER_ENVIRONMENT = {
  PORT: '0',
  HOST: '127.0.0.1',
  OPS_PORT: '0',
  RELAY_PORT: '0',
  FRONTEND_ORIGIN: 'http://localhost:5173',
  LOG_LEVEL: 'info',
  RPC_URL: 'http://127.0.0.1:9',
  CHAIN_ID: '31337',
  INSTITUTION_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
  ORDER_ESCROW_ADDRESS: `0x${'22'.repeat(20)}`,
  CONFIDENTIAL_LEDGER_ADDRESS: `0x${'33'.repeat(20)}`,
  EQUITY_TOKEN_ADDRESS: `0x${'44'.repeat(20)}`,
  PLATFORM_POOL_ADDRESS: `0x${'55'.repeat(20)}`,
  RELAY_AUTH_TOKEN: 'relay-token-of-the-tests-0123456789',
  RELAYER_PRIVATE_KEY: `0x${'07'.repeat(32)}`,
  INTENT_PUBKEY: '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  // Reads see the latest block: tests send a transaction and look at once.
  READ_MAX_AGE: '1ms',
  ENCLAVE_URL: 'http://127.0.0.1:9',
  ENCLAVE_TRIGGER_SECRET: RUN_SECRET,
  ENCLAVE_SIGNER: `0x${'66'.repeat(20)}`,
  ALPACA_KEY_ID: 'market-key-id',
  ALPACA_SECRET_KEY: 'market-secret-key',
  ALPACA_TRADING_URL: 'http://127.0.0.1:9',
  ALPACA_DATA_URL: 'http://127.0.0.1:9',
}

/** What the server decides by itself, by names of the tests, which hand in other values; and a time that no operator may set so short. */
const HANDED_IN: Readonly<Record<string, (value: string) => Changes>> = {
  HEADERS_TIMEOUT: (value) => ({ http: { headersTimeoutMs: ms(value) } }),
  ANSWER_TIMEOUT: (value) => ({ http: { answerTimeoutMs: ms(value) } }),
  MAX_CONNECTIONS_PER_CLIENT: (value) => ({ http: { maxConnectionsPerClient: Number(value) } }),
  MAX_UNDER_WAY_PER_CLIENT: (value) => ({ http: { maxUnderWayPerClient: Number(value) } }),
  SHUTDOWN_TIMEOUT: (value) => ({ http: { shutdownTimeoutMs: ms(value) } }),
  ENVELOPE_MAX_PER_CLIENT: (value) => ({ unopened: { maxPerClient: Number(value) } }),
  ENVELOPE_MAX_BYTES_PER_CLIENT: (value) => ({ unopened: { maxBytesPerClient: Number(value) } }),
  RPC_LOG_RANGE: (value) => ({ chain: { logRange: Number(value) } }),
  NARRATOR_INTERVAL: (value) => ({ narrator: { intervalMs: ms(value) } }),
  RELAY_WAIT: (value) => ({ relay: { waitMs: ms(value) } }),
  RELAY_MAX_QUEUED: (value) => ({ relay: { maxQueued: Number(value) } }),
  RELAY_MAX_OPENINGS: (value) => ({ relay: { maxOpenings: Number(value) } }),
  RELAY_POLL_INTERVAL: (value) => ({ relay: { pollIntervalMs: ms(value) } }),
  RELAY_RESUBMIT_AFTER: (value) => ({ relay: { resubmitAfterMs: ms(value) } }),
  RELAY_MAX_GAS: (value) => ({ relay: { maxGas: BigInt(value) } }),
  RELAY_RESERVE: (value) => ({ gas: { reserve: BigInt(value) } }),
  RELAY_INSTITUTION_DAILY_GAS: (value) => ({ gas: { perInstitution: BigInt(value) } }),
}

const SECTIONS = ['http', 'unopened', 'chain', 'narrator', 'relay'] as const
type Changes = { [S in (typeof SECTIONS)[number]]?: Partial<Config[S]> } & {
  gas?: Partial<Config['relay']['gas']>
}

const ms = (value: string) => duration().parse(value)

/** The configuration of that environment with some variables changed, and other values handed in. */
export function serverConfig(overrides: Record<string, string> = {}): Config {
  const entries = Object.entries(overrides)
  const variables = Object.fromEntries(entries.filter(([name]) => !(name in HANDED_IN)))
  const config = readConfig({ ...SERVER_ENVIRONMENT, ...variables })
  for (const [name, value] of entries) {
    const changes = HANDED_IN[name]?.(value)
    for (const section of SECTIONS) Object.assign(config[section], changes?.[section])
    Object.assign(config.relay.gas, changes?.gas)
  }
  return config
}
