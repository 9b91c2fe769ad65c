import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { DOCUMENTED_FEES, feeScheduleText } from '../../protocol/fees.js'
import { chainIdTextSchema } from '../../protocol/identifiers.js'
import { publicKeySchema } from '../../protocol/point.js'
import { runSecretSchema } from '../../protocol/runMessage.js'
import { optional, required, withDefault } from '../../service/config.js'
import {
  account,
  baseUrl,
  duration,
  integer,
  listOf,
  logLevel,
  secureUrl,
} from '../../service/configKinds.js'
import { LOG_LEVELS } from '../../service/logger.js'
import { INSTALLATION } from '../../service/version.js'
import {
  databaseUrl,
  decimal,
  enclaveUrls,
  host,
  kmsKeyId,
  origin,
  relayerKey,
  secret,
  secretText,
} from './values.js'

/** The enclave's program. */
export const BUNDLED_ENCLAVE = fileURLToPath(new URL('dist/enclave/main.js', INSTALLATION))

const RELAY_TOKEN_MIN_LENGTH = 32
const [GWEI_DECIMALS, ETHER_DECIMALS] = [9, 18]
const address = (about: string) => required(account(), { about, example: '' })

export const ENV_EXAMPLE_HEADER = [
  "# The server's configuration: `install -m 600 .env.example .env`, or name another file in ENV_FILE. A file that other",
  '# users have rights on is refused. Real environment variables win. A line that is commented out shows its default.',
  '# Each URL is https, or http on this machine. Checked against the schema by `npm run check`.',
]

const fixed = (value: string) => `is no setting any more: remove it. It is ${value}`
const follows = (name: string, part: string) =>
  `follows ${name} now: remove it, and set that. It is ${part} of it`
const one = (name: string) => `is gone: name the key of the one account in ${name}`

const narrationFormat = z
  .enum(['auto', 'text', 'json', 'auto-all', 'text-all', 'json-all'], {
    error: 'expected auto, text or json, or one of them with -all',
  })
  .transform((text) => {
    const format = z.enum(['auto', 'text', 'json']).parse(text.replace('-all', ''))
    return { format, isWhole: text.endsWith('-all') }
  })

/** Variables that were settings once, each with what to do about it. */
export const FORMER_VARIABLES: Readonly<Record<string, string>> = {
  ENCLAVE_COMMAND: 'is gone: name .env.enclave in ENCLAVE_ENV_FILE, and the server keeps one enclave up',
  MAX_WAIT: 'is gone: remove it. MAX_UNDER_WAY bounds the requests under way',
  BODY_LIMIT_BYTES: fixed('64 KiB'),
  HEADERS_TIMEOUT: follows('REQUEST_TIMEOUT', 'a third'),
  ANSWER_TIMEOUT: fixed('30s'),
  KEEP_ALIVE_TIMEOUT: fixed("65s: keep your proxy's shorter, or off"),
  MAX_CONNECTIONS_PER_CLIENT: follows('MAX_CONNECTIONS', 'a third'),
  MAX_UNDER_WAY_PER_CLIENT: follows('MAX_UNDER_WAY', 'a third'),
  SHUTDOWN_TIMEOUT: fixed('10s'),
  ENVELOPE_MAX_PER_CLIENT: follows('ENVELOPE_MAX_WAITING', 'a twentieth'),
  ENVELOPE_MAX_BYTES_PER_CLIENT: fixed('4 MiB'),
  NARRATOR_INTERVAL: fixed('2s'),
  NARRATOR_CONFIRMATIONS: 'is gone: remove it. CONFIRMATIONS is for the narration too',
  RPC_LOG_RANGE: fixed('2000 at most, and halved where a node refuses so many'),
  RELAYER_PRIVATE_KEYS: one('RELAYER_PRIVATE_KEY'),
  RELAYER_KMS_KEY_IDS: one('RELAYER_KMS_KEY_ID'),
  RELAY_WAIT: fixed('20s, and less where a caller says so (Prefer: wait=5)'),
  RELAY_MAX_QUEUED: fixed('1000'),
  RELAY_POLL_INTERVAL: fixed('half a block, 250ms at most'),
  RELAY_MAX_GAS: fixed('2^24, the most that EIP-7825 allows'),
  RELAY_RESERVE_PERCENT: fixed('20'),
  RELAY_SEND_AHEAD:
    'is gone: remove it. The relay sends as many ahead as nodes take and one block has gas for',
  RELAY_INSTITUTION_DAILY_GAS:
    "is gone: remove it. An institution's quota is ten times RELAY_ACCOUNT_DAILY_GAS",
  ENCLAVE_TRIGGER:
    'is gone: remove it. With ENCLAVE_URL the server posts jobs there, without it the server keeps an enclave up itself',
  RECONCILE_INTERVAL: "is gone: remove it. The reconcile runs once after each market's close",
  ALPACA_TIMEOUT: fixed('5s'),
  MARKET_MAX_AGE: fixed('2s'),
}

/** Every variable of the server, in the order of `.env.example`. The process's environment may have others, the file not. */
export const environmentSchema = z.object({
  PORT: withDefault(integer(0, 65_535), {
    section: 'HTTP',
    about: 'Port that the API listens on; 0 for any free one.',
    fallback: '8000',
  }),
  HOST: optional(host(), { about: 'Address to listen on; unset: every interface.' }),
  FRONTEND_ORIGIN: required(origin(), {
    about: 'The one origin whose pages may call the API.',
    example: 'http://localhost:5173',
  }),
  TRUST_PROXY: withDefault(integer(0, 16), {
    about:
      "Number of reverse proxies in front, whose X-Forwarded-For holds the client's address; clients share their connections.",
    fallback: '0',
  }),
  RATE_LIMIT_PER_MINUTE: withDefault(integer(1, 1_000_000_000), {
    about:
      'What the requests of one client may cost in a minute: a read 1, a post 30, a file of the documentation 100, and nothing a view that has not changed, a probe of /health, or one that shows the relay token.',
    fallback: '400000',
  }),
  REQUEST_TIMEOUT: withDefault(duration(), {
    about:
      'Time limit for a whole request to arrive: a third of it for its headers, and at most 10s after them for its body.',
    fallback: '30s',
  }),
  MAX_CONNECTIONS: withDefault(integer(1, 1_000_000), {
    about:
      'Connections open at once; further ones are closed. One client may have a third, unless it is a proxy (TRUST_PROXY).',
    fallback: '10000',
  }),
  MAX_UNDER_WAY: withDefault(integer(1, 1_000_000), {
    about:
      'Requests of clients under way at once, GETs nine tenths of it; others get 503 overloaded. One client may have a third; others of it get 429 too-many-at-once.',
    fallback: '3000',
  }),
  OPS_PORT: withDefault(integer(0, 65_535), {
    about: "Port of the operator's own endpoints, /livez, /readyz and /metrics; 0 for any free one.",
    fallback: '8001',
  }),
  OPS_HOST: withDefault(host(), {
    about: 'Address that those listen on. They ask for no token: keep it where only your monitoring is.',
    fallback: '127.0.0.1',
  }),
  RELAY_PORT: withDefault(integer(0, 65_535), {
    about:
      "Port for the enclave's requests alone, which no limit of clients applies to: its RELAY_URL leads here. 0 for any free one.",
    fallback: '8002',
  }),
  RELAY_HOST: withDefault(host(), {
    about: 'Address that it listens on. It asks for the relay token: keep it where only the enclave is.',
    fallback: '127.0.0.1',
  }),
  LOG_LEVEL: withDefault(logLevel(), {
    about: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    fallback: 'info',
  }),
  DATA_DIR: withDefault(z.string(), {
    section: 'Storage',
    about: "Directory of the server's database, server.db; one server per directory.",
    fallback: './data',
  }),
  DATABASE_URL: optional(databaseUrl(), {
    secret: true,
    about:
      'Secret URL of a PostgreSQL database that replaces DATA_DIR (postgres://user:password@host/database?sslmode=verify-full; without sslmode on this machine alone); needs ENCLAVE_URL.',
  }),
  LEASE_TTL: withDefault(duration({ min: '1s' }), {
    about:
      'Time after which the work of a server that was killed or hangs goes to another one on DATABASE_URL, from 1s; the same on all.',
    fallback: '10s',
  }),
  RECORD_RETENTION: optional(duration({ min: '960h', max: '87600h' }), {
    about:
      "How long orders, their cancels and the relay's receipts are kept after their end, from 960h (40 days) up to 87600h; unset: for ever. The same on all servers.",
  }),
  ENVELOPE_EXPIRY: withDefault(duration(), {
    about: 'How long an envelope is kept when its escrow does not open.',
    fallback: '24h',
  }),
  ENVELOPE_MAX_WAITING: withDefault(integer(1, 1_000_000), {
    about:
      'Orders kept without an escrow, a twentieth of them of one client; beyond that, an envelope is accepted only once its escrow is open.',
    fallback: '10000',
  }),
  RPC_URL: required(listOf(secureUrl()), {
    secret: true,
    section: 'Chain',
    about: 'JSON-RPC nodes of the chain, separated by commas, the preferred one first.',
    example: 'http://127.0.0.1:8545',
  }),
  RPC_TIMEOUT: withDefault(duration(), { about: 'Timeout of one request to one node.', fallback: '5s' }),
  CHAIN_ID: required(chainIdTextSchema, {
    about: "The chain's id, at most 4503599627370476.",
    example: '31337',
  }),
  INSTITUTION_REGISTRY_ADDRESS: address('The five contracts, as the deployment printed them.'),
  ORDER_ESCROW_ADDRESS: address(''),
  CONFIDENTIAL_LEDGER_ADDRESS: address(''),
  EQUITY_TOKEN_ADDRESS: address(''),
  PLATFORM_POOL_ADDRESS: address(''),
  CONFIRMATIONS: withDefault(integer(1, 1_000), {
    about:
      'Blocks that must hold a transaction or event, its own included, before it counts and is narrated.',
    fallback: '1',
  }),
  READ_MAX_AGE: withDefault(duration(), {
    about: 'How old the block may be that GET answers are true of; it is asked for twice in that time.',
    fallback: '2s',
  }),
  NARRATOR_FORMAT: withDefault(narrationFormat, {
    about:
      'Lines for people (text) or programs (json); auto: text on a terminal, else json. Each with -all (text-all): every event of the contracts, not the thirteen kinds alone.',
    fallback: 'auto',
  }),
  RELAY_AUTH_TOKEN: required(secretText(RELAY_TOKEN_MIN_LENGTH), {
    secret: true,
    section: 'Relay',
    about: `Secret shared with the enclave, at least ${RELAY_TOKEN_MIN_LENGTH} characters (openssl rand -hex 32).`,
    example: '',
  }),
  RELAYER_PRIVATE_KEY: optional(relayerKey(), {
    secret: true,
    about:
      'Secret key of the account that pays the gas of relayed authorizations. The servers on one database share it. Or set RELAYER_KMS_KEY_ID.',
    example: '',
  }),
  RELAYER_KMS_KEY_ID: optional(kmsKeyId(), {
    about: 'The account as a key in AWS KMS: its id, ARN or alias. Region and rights are AWS_* variables.',
  }),
  RELAY_MAX_IN_FLIGHT: withDefault(integer(1, 1_000), {
    about: 'Transactions under way at once. Public nodes accept 16 to 64 of one account.',
    fallback: '64',
  }),
  RELAY_RESUBMIT_AFTER: withDefault(duration({ min: '1s' }), {
    about:
      'Time after which a transaction that a node has and no block includes is replaced, for at least 12.5 % more.',
    fallback: '30s',
  }),
  RELAY_MAX_FEE: withDefault(decimal(GWEI_DECIMALS), {
    about: 'Highest fee that is paid, in gwei per gas.',
    fallback: '500',
  }),
  RELAY_DAILY_GAS: withDefault(integer(21_000, Number.MAX_SAFE_INTEGER), {
    about:
      'Gas that the relayer may use in one day (UTC); further authorizations are refused with 503. Only the ends of orders written ahead can use its last fifth.',
    fallback: '50000000000',
  }),
  RELAY_ACCOUNT_DAILY_GAS: withDefault(integer(21_000, Number.MAX_SAFE_INTEGER), {
    about:
      "Gas that one account's orders may use in one day, but for the first; one institution's rulebooks may use ten times as much. More is refused with 429.",
    fallback: '50000000',
  }),
  RELAY_MIN_BALANCE: withDefault(decimal(ETHER_DECIMALS), {
    about:
      "Ether below which the relayer's account accepts no new authorization; orders written ahead may use it up.",
    fallback: '0.01',
  }),
  INTENT_PUBKEY: optional(publicKeySchema, {
    section: 'Enclave',
    about: 'Public key (secp256k1) that clients seal intents to, where the enclave has its keys from files.',
    example: '',
  }),
  ENCLAVE_SIGNER: optional(account(), {
    about: "With INTENT_PUBKEY: address of the enclave's signing identity. An attested enclave posts both.",
    example: '',
  }),
  ENCLAVE_URL: optional(enclaveUrls(), {
    about:
      'Where the enclave runs as another user (npm run enclave): https unless on this machine, or unix: and its socket. During an upgrade the next one too, after a comma. Unset: the server starts one by itself, for trials.',
  }),
  ENCLAVE_TRIGGER_SECRET: optional(secret(runSecretSchema), {
    secret: true,
    about:
      'With ENCLAVE_URL: signs jobs and results, the same at the enclave (echo whsec_$(openssl rand -base64 32)).',
  }),
  ENCLAVE_TRIGGER_INTERVAL: optional(duration(), {
    about: 'Least time between two runs that are started, of whatever kind; unset: none.',
  }),
  ENCLAVE_ENV_FILE: withDefault(z.string(), {
    about:
      "Without ENCLAVE_URL: the enclave's own configuration. The server hands its path on and never reads it.",
    fallback: './.env.enclave',
  }),
  ENCLAVE_MAX_RUNS: withDefault(integer(1, 1_000), {
    about: 'Order runs at the same time.',
    fallback: '240',
  }),
  // The enclave waits 30 s within one run before it gives up an order that may still be on its way to the broker.
  ORDER_RUN_TIMEOUT: withDefault(duration({ min: '90s' }), {
    about: 'Time limit of one order run, at least 90s.',
    fallback: '120s',
  }),
  POLICY_RUN_TIMEOUT: withDefault(duration(), {
    about: 'Time that POST /policy waits for its run to begin and to end.',
    fallback: '150s',
  }),
  ALPACA_KEY_ID: required(secretText(), {
    secret: true,
    section: 'Market data (an account of its own: never the one that the enclave trades with)',
    about: 'Key of the market-data account.',
    example: '',
  }),
  ALPACA_SECRET_KEY: required(secretText(), { secret: true, about: 'Its secret.', example: '' }),
  ALPACA_TRADING_URL: withDefault(baseUrl(), {
    about: 'Clock and assets.',
    fallback: 'https://paper-api.alpaca.markets',
  }),
  ALPACA_DATA_URL: withDefault(baseUrl(), { about: 'Prices.', fallback: 'https://data.alpaca.markets' }),
  BROKER_FEES: withDefault(feeScheduleText, {
    about: "Fees that sales pay, as the enclave's BROKER_FEES has them; GET /market shows them.",
    fallback: DOCUMENTED_FEES,
  }),
  MARKET_CLOCK_MAX_AGE: withDefault(duration({ max: '1h' }), {
    about:
      "Time after which the market's hours are asked for again, for GET /market/clock and for orders that wait for an opening. An announced opening or closing is known to the second; this is for one that is not.",
    fallback: '30s',
  }),
})
