import { z } from 'zod'
import { addressSchema } from '../protocol/address.js'
import { DOCUMENTED_FEES, feeScheduleText } from '../protocol/fees.js'
import { bytesToUint, hexOf, hexToBytes } from '../protocol/hex.js'
import { chainIdTextSchema, symbolSchema } from '../protocol/identifiers.js'
import { runSecretSchema } from '../protocol/runMessage.js'
import { CURVE_ORDER } from '../protocol/signature.js'
import { LOG_LEVELS } from '../service/logger.js'
import type { Depth } from './heads.js'

/** What `.env.enclave.example` says of a variable. */
export interface VariableNotes {
  /** Opens a section of the file. */
  readonly section?: string
  readonly about: string
  /** What stands as a required variable's value. */
  readonly example?: string
  /** An optional variable's default. */
  readonly fallback?: string
}

export const variableNotes = z.registry<VariableNotes>()

type Text<T> = z.ZodType<T, string>

function required<T>(schema: Text<T>, notes: VariableNotes & { example: string }) {
  return z.string({ error: 'is missing' }).pipe(schema).register(variableNotes, notes)
}

function withDefault<T>(schema: Text<T>, notes: VariableNotes & { fallback: string }) {
  return z.string().default(notes.fallback).pipe(schema).register(variableNotes, notes)
}

const key32 = hexOf(32)
const privateKey = key32.refine((hex) => {
  const scalar = bytesToUint(hexToBytes(hex))
  return scalar > 0n && scalar < CURVE_ORDER
}, 'expected a secp256k1 private key')
const printable = z.string().regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without spaces')
const token = printable.min(32, 'expected 32 characters at least')
const httpUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' })

/** Optional: only an enclave that stays up needs it. */
function optional<T>(schema: Text<T>, notes: VariableNotes) {
  return z.string().pipe(schema).optional().register(variableNotes, notes)
}

const usdc = z
  .string()
  .regex(/^\d{1,15}$/, 'expected USDC base units')
  .transform(BigInt)
const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,4}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`)
const depth = z
  .string()
  .regex(/^(?:safe|finalized|\d{1,6})$/, 'expected safe, finalized or a number of blocks')
  .transform((text): Depth => (text === 'safe' || text === 'finalized' ? text : Number(text)))

/** Where jobs are taken: a port of this machine, or a socket. */
export type Listen = { readonly host: string; readonly port: number } | { readonly path: string }

/** What Linux takes as the path of a socket. */
const MAX_SOCKET_PATH_BYTES = 107

function listenOf(text: string): Listen | undefined {
  const path = /^unix:(\/.+)$/.exec(text)?.[1]
  if (path !== undefined) return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { path } : undefined
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

const listen = z.string().transform((text, context): Listen => {
  const where = listenOf(text)
  if (where !== undefined) return where
  context.addIssue('expected host:port, or unix: and an absolute path of 107 bytes at most')
  return z.NEVER
})

function listOf<T>(item: Text<T>, separator = ',') {
  return z
    .string()
    .transform((text) => (text === '' ? [] : text.split(separator).map((part) => part.trim())))
    .pipe(z.array(item))
}

function milliseconds(about: string, fallback: number, max: number, section?: string) {
  const message = `expected whole milliseconds from 1 to ${max}`
  const schema = z
    .string()
    .regex(/^\d{1,7}$/, message)
    .transform(Number)
    .refine((ms) => ms >= 1 && ms <= max, message)
  return withDefault(schema, { ...inSection(section), about, fallback: String(fallback) })
}

function inSection(section?: string) {
  return section === undefined ? {} : { section }
}

const secret = (about: string, section?: string) => ({ ...inSection(section), about, example: '' })
const address = (about: string) => required(addressSchema, { about, example: '' })

/**
 * A call that began before `stopAt` must be over thirty seconds later, when the account's next run may begin. Placing
 * an order may take two calls.
 */
const MAX_BROKER_MS = 12_000
const MAX_RELAY_MS = 28_000
const MINUTE_MS = 60_000

/** Every variable of the enclave, in the order of `.env.enclave.example`. Others are ignored. */
export const environmentSchema = z.object({
  LEDGER_MASTER_KEY: required(
    key32,
    secret(
      '32 bytes that all ledger keys are derived from. Losing it loses the record of every balance: back it up.',
      'Keys: each 0x and 64 hex digits (openssl rand -hex 32)',
    ),
  ),
  INTENT_PRIVATE_KEY: required(
    privateKey,
    secret("Opens what clients seal; the server's INTENT_PUBKEY belongs to it."),
  ),
  ENCLAVE_PRIVATE_KEY: required(
    privateKey,
    secret("Signs authorizations; the contracts' enclaveSigner is its address. It holds no gas."),
  ),
  ALPACA_KEY_ID: required(
    printable,
    secret(
      "Keys of the account that trades: another one than the server's, which could read every order there.",
      'Broker',
    ),
  ),
  ALPACA_SECRET_KEY: required(printable, secret('')),
  ALPACA_TRADING_URL: withDefault(httpUrl, {
    about: 'The paper or the live trading API.',
    fallback: 'https://paper-api.alpaca.markets',
  }),
  ALPACA_DATA_URL: withDefault(httpUrl, {
    about: 'The market data API.',
    fallback: 'https://data.alpaca.markets',
  }),
  BROKER_TIMEOUT_MS: milliseconds('Time that one call to the broker gets.', 10_000, MAX_BROKER_MS),
  BROKER_CLOCK_MAX_AGE_MS: milliseconds(
    'How long the market clock is believed. A scheduled opening or closing is known to the second; this is for one that is not.',
    MINUTE_MS,
    MINUTE_MS,
  ),
  BROKER_FEES: withDefault(feeScheduleText, {
    about:
      'Fees that the broker charges, taken from the proceeds of sales: name:rate/share or name:rate/usd, with :max=USD \
for a cap per sale, and :both where purchases pay too. The default is what Alpaca documents for live accounts: see \
https://alpaca.markets/support/regulatory-fees. Paper accounts pay none. The server needs the same setting; none for no fees.',
    fallback: DOCUMENTED_FEES,
  }),
  BROKER_FEES_EARLIER: withDefault(listOf(feeScheduleText, ';'), {
    about:
      'Former values of BROKER_FEES, separated by semicolons. Only npm run doctor -- --money reads them: sales were \
settled by them.',
    fallback: '',
  }),
  RPC_URL: required(listOf(httpUrl), {
    section: 'Chain',
    about:
      "The enclave's own JSON-RPC nodes, separated by commas, the preferred one first. It believes what they say, and \
they see whose order is run when: not the server's nodes.",
    example: 'http://127.0.0.1:8546',
  }),
  RPC_WITNESS_URL: withDefault(listOf(httpUrl), {
    about:
      'JSON-RPC nodes of another operator, separated by commas. Where they are named, both must say the same, at one \
block, about everything that decides money.',
    fallback: '',
  }),
  CHAIN_DEPTH: required(depth, {
    about:
      'What permits an order (its escrow, its write-ahead) must lie this many blocks below the head, or in the block that \
the chain calls safe or finalized. docs/enclave.md says under "Depth" what fits Ethereum, a rollup, and a chain of one-second blocks.',
    example: 'safe',
  }),
  CHAIN_DEPTH_WAIT_MS: milliseconds(
    'How long a run waits for that depth before it leaves the order to a later run.',
    5_000,
    MINUTE_MS,
  ),
  CHAIN_MAX_HEAD_AGE_MS: milliseconds(
    "A newest block that is older than this, by the enclave's clock, is not acted on, at any depth.",
    2 * MINUTE_MS,
    60 * MINUTE_MS,
  ),
  RPC_TIMEOUT_MS: milliseconds('Time that one node gets for one request.', 10_000, MINUTE_MS),
  CHAIN_ID: required(chainIdTextSchema, {
    about: "The chain's id, at most 4503599627370476.",
    example: '31337',
  }),
  INSTITUTION_REGISTRY_ADDRESS: address('The five contracts, as the deployment printed them.'),
  ORDER_ESCROW_ADDRESS: address(''),
  CONFIDENTIAL_LEDGER_ADDRESS: address(''),
  EQUITY_TOKEN_ADDRESS: address(''),
  PLATFORM_POOL_ADDRESS: address(''),
  RELAY_URL: required(httpUrl, {
    section: 'Relay',
    about: 'Base URL of the server, which carries authorizations to the chain.',
    example: 'http://127.0.0.1:8000',
  }),
  RELAY_AUTH_TOKEN: required(token, secret("The server's RELAY_AUTH_TOKEN.")),
  RELAY_TIMEOUT_MS: milliseconds(
    'Time that POST /relay gets; more than RELAY_WAIT of the server.',
    25_000,
    MAX_RELAY_MS,
  ),
  RELAY_AGAIN_MS: milliseconds(
    'The relay is asked again when the chain has not taken an authorization after this.',
    15_000,
    5 * MINUTE_MS,
  ),
  CONFIRM_POLL_MS: milliseconds(
    'Pause between two looks at the chain while any run waits for a block; all runs share them.',
    500,
    MINUTE_MS,
  ),
  FILL_WAIT_MS: milliseconds(
    'How long a run follows a live order before it leaves it to a later run.',
    5_000,
    MINUTE_MS,
    'Pace',
  ),
  ABSENT_AGAIN_MS: milliseconds(
    "An order that is decided never to be placed is refunded when it is still absent at the broker after this, within \
one run: less than the server's ORDER_RUN_TIMEOUT. Not below 30000 with a real broker.",
    30_000,
    MINUTE_MS,
  ),
  AMBIGUOUS_AGAIN_MS: milliseconds(
    'Pause before an order is sent again, under the same id, whose answer was lost.',
    2_000,
    MINUTE_MS,
  ),
  MIN_ORDER: withDefault(usdc, {
    section: 'Limits',
    about:
      "The smallest order, in USDC base units (6 decimals). One of a whole balance has only the broker's own minimum.",
    fallback: '10000000',
  }),
  MIN_WITHDRAWAL: withDefault(usdc, {
    about:
      'The smallest withdrawal, in USDC base units, of shares at their price. It does not bind a whole balance.',
    fallback: '10000000',
  }),
  RECONCILE_MIN_ACCOUNTS: withDefault(count(1, 1_000), {
    about:
      "Accounts that must have traded a symbol before its fills are shown in a batch of mints or burns: a batch of one \
account's fill would show its size. 1 shows each.",
    fallback: '3',
  }),
  RECONCILE_MAX_DELAY_DAYS: withDefault(count(0, 365), {
    about:
      'After this many days a fill joins the next batch, however few accounts traded. 0 disables the wait.',
    fallback: '5',
  }),
  RECONCILE_HALTED_SYMBOLS: withDefault(listOf(symbolSchema), {
    about:
      'Symbols that are neither minted nor burned for now, separated by commas: around a split, for example.',
    fallback: '',
  }),
  ENCLAVE_LISTEN: withDefault(listen, {
    section: 'An enclave that stays up (npm run enclave); a variable of the process wins over this file',
    about:
      'Where jobs are posted to: host:port, or unix: and an absolute path. Put a TLS proxy in front of a port that other machines reach.',
    fallback: '127.0.0.1:8700',
  }),
  ENCLAVE_TRIGGER_SECRET: optional(runSecretSchema, {
    about:
      "The server's ENCLAVE_TRIGGER_SECRET (echo whsec_$(openssl rand -base64 32)); unset: the file secret in ENCLAVE_STATE_DIR.",
  }),
  ENCLAVE_STATE_DIR: withDefault(z.string(), {
    about:
      'Directory that remembers which runs were taken, on a local disk; one enclave per directory. Never copy it: a copy is another enclave.',
    fallback: './data/enclave',
  }),
  MAX_RUNS: withDefault(count(1, 1_000), {
    about: "Runs at the same time: the server's ENCLAVE_MAX_RUNS and four more, at least.",
    fallback: '256',
  }),
  LOG_LEVEL: withDefault(z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` }), {
    about: `How much is logged to standard error: ${LOG_LEVELS.join(', ')}.`,
    fallback: 'info',
  }),
})

/** Variables that a process may be given beside its file: its starter chooses where it listens and what it remembers. */
export const RESIDENT_VARIABLES = [
  'ENCLAVE_LISTEN',
  'ENCLAVE_TRIGGER_SECRET',
  'ENCLAVE_STATE_DIR',
  'MAX_RUNS',
  'LOG_LEVEL',
] as const
