// The settings that an enclave has wherever its keys come from.
import * as z from 'zod'
import { DOCUMENTED_FEES, feeScheduleText } from '../protocol/fees.js'
import { chainIdTextSchema } from '../protocol/identifiers.js'
import { runSecretSchema } from '../protocol/runMessage.js'
import { optional, required, withDefault } from '../service/config.js'
import {
  account,
  baseUrl,
  duration,
  integer,
  listOf,
  logLevel,
  secureUrl,
  visibleText,
} from '../service/configKinds.js'
import { LOG_LEVELS } from '../service/logger.js'
import type { Depth } from './heads.js'

const usdc = z
  .string()
  .regex(/^\d{1,15}$/, 'expected USDC base units')
  .transform(BigInt)
const depth = z
  .string()
  .regex(/^(?:safe|finalized|\d{1,6})$/, 'expected safe, finalized or a number of blocks')
  .transform((text): Depth => (text === 'safe' || text === 'finalized' ? text : Number(text)))

/** Where jobs are taken: a port of this machine, or a socket. */
export type Listen = { readonly host: string; readonly port: number } | { readonly path: string }

/** The longest path of a socket on Linux. */
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

/** Notes of a variable whose value nobody else may know. */
export const secret = (about: string, section?: string) => ({
  ...(section !== undefined && { section }),
  secret: true as const,
  about,
  example: '',
})
const address = (about: string) => required(account(), { about, example: '' })

/**
 * A call that began before `stopAt` must be over thirty seconds later, when the account's next run may begin. Placing
 * an order may take two calls.
 */
const MAX_BROKER = '12s'
const MAX_RELAY = '28s'

/** Each, in the order of the env examples. */
export const commonSettings = {
  ALPACA_TRADING_URL: withDefault(baseUrl(), {
    about: 'The paper or the live trading API.',
    fallback: 'https://paper-api.alpaca.markets',
  }),
  ALPACA_DATA_URL: withDefault(baseUrl(), {
    about: 'The market data API.',
    fallback: 'https://data.alpaca.markets',
  }),
  BROKER_TIMEOUT: withDefault(duration({ max: MAX_BROKER }), {
    about: 'Time that one call to the broker gets.',
    fallback: '10s',
  }),
  BROKER_CLOCK_MAX_AGE: withDefault(duration({ max: '1m' }), {
    about:
      'How long the market clock is believed, and 10s at most while it is closed. A scheduled opening or closing is known to the second; this is for one that is not.',
    fallback: '1m',
  }),
  BROKER_FEES: withDefault(feeScheduleText, {
    about:
      'Fees that the broker charges, taken from the proceeds of sales: name:rate/share or name:rate/usd, with :max=USD \
for a cap per sale, and :both where purchases pay too. The default is what Alpaca documents for live accounts: see \
https://alpaca.markets/support/regulatory-fees. Paper accounts pay none. The server needs the same setting; none for no fees.',
    fallback: DOCUMENTED_FEES,
  }),
  BROKER_FEES_EARLIER: withDefault(listOf(feeScheduleText, ';'), {
    about:
      'Former values of BROKER_FEES, separated by semicolons. Only npm run operate -- invariants reads them: sales were \
settled by them.',
    fallback: '',
  }),
  RPC_URL: required(listOf(secureUrl()), {
    secret: true,
    section: 'Chain',
    about:
      "The enclave's own JSON-RPC nodes, separated by commas, the preferred one first. It believes what they say, and \
they see whose order is run when: not the server's nodes.",
    example: 'http://127.0.0.1:8546',
  }),
  RPC_WITNESS_URL: withDefault(listOf(secureUrl()), {
    about:
      'JSON-RPC nodes of another operator, separated by commas. Where they are named, both must say the same, at one \
block, about everything that decides money.',
    fallback: '',
  }),
  CHAIN_DEPTH: required(depth, {
    about:
      'The state that permits an order (its escrow, its write-ahead) must lie this many blocks below the head, or in the block that \
the chain calls safe or finalized; 0 on a local test chain alone. docs/enclave.md says under "Depth" what fits Ethereum, a rollup, and a chain of one-second blocks.',
    example: 'safe',
  }),
  CHAIN_DEPTH_WAIT: withDefault(duration({ max: '1m' }), {
    about: 'How long a run waits for that depth before it leaves the order to a later run.',
    fallback: '5s',
  }),
  CHAIN_MAX_HEAD_AGE: withDefault(duration({ max: '60m' }), {
    about: "A newest block that is older than this, by the enclave's clock, is not acted on, at any depth.",
    fallback: '2m',
  }),
  RPC_TIMEOUT: withDefault(duration({ max: '1m' }), {
    about: 'Time that one node gets for one request.',
    fallback: '10s',
  }),
  CHAIN_ID: required(chainIdTextSchema, {
    about: "The chain's id, at most 4503599627370476.",
    example: '31337',
  }),
  INSTITUTION_REGISTRY_ADDRESS: address('The five contracts, as the deployment printed them.'),
  ORDER_ESCROW_ADDRESS: address(''),
  CONFIDENTIAL_LEDGER_ADDRESS: address(''),
  EQUITY_TOKEN_ADDRESS: address(''),
  PLATFORM_POOL_ADDRESS: address(''),
  RELAY_URL: required(baseUrl(), {
    section: 'Relay',
    about:
      "Base URL of the server's RELAY_PORT, where authorizations, notices and results of runs go; in front of several servers, that of a balancer.",
    example: 'http://127.0.0.1:8002',
  }),
  RELAY_AUTH_TOKEN: required(visibleText(32), secret("The server's RELAY_AUTH_TOKEN.")),
  RELAY_TIMEOUT: withDefault(duration({ max: MAX_RELAY }), {
    about: 'Time that POST /relay gets; more than the 20s after which the server answers.',
    fallback: '25s',
  }),
  RELAY_RETRY_AFTER: withDefault(duration({ max: '5m' }), {
    about: 'The relay is asked again when the chain has not taken an authorization after this.',
    fallback: '15s',
  }),
  CONFIRM_POLL_INTERVAL: withDefault(duration({ max: '1m' }), {
    about: 'Pause between two looks at the chain while any run waits for a block; all runs share them.',
    fallback: '500ms',
  }),
  FILL_WAIT: withDefault(duration({ max: '1m' }), {
    section: 'Timing',
    about: 'How long a run follows a live order before it leaves it to a later run.',
    fallback: '5s',
  }),
  ABSENT_RECHECK_AFTER: withDefault(duration({ max: '1m' }), {
    about:
      "An order that is decided never to be placed is refunded when it is still absent at the broker after this, within \
one run: less than the server's ORDER_RUN_TIMEOUT, and longer than BROKER_TIMEOUT and 5s together.",
    fallback: '30s',
  }),
  AMBIGUOUS_RETRY_AFTER: withDefault(duration({ max: '1m' }), {
    about: 'Pause before an order is sent again, under the same id, whose answer was lost.',
    fallback: '2s',
  }),
  MIN_ORDER: withDefault(usdc, {
    section: 'Limits',
    about:
      "The smallest order, in USDC base units (6 decimals). One of a whole balance has only the broker's own minimum.",
    fallback: '10000000',
  }),
  MIN_WITHDRAWAL: withDefault(usdc, {
    about:
      'The smallest withdrawal or deposit, in USDC base units, of shares at their price. It does not bind a withdrawal of a whole balance.',
    fallback: '10000000',
  }),
  RECONCILE_MIN_ACCOUNTS: withDefault(integer(1, 1_000), {
    about:
      "Accounts that must have traded a symbol before its fills are shown in a batch of mints or burns: a batch of one \
account's fill would show its size. 1 shows each.",
    fallback: '3',
  }),
  RECONCILE_MAX_DELAY_DAYS: withDefault(integer(0, 365), {
    about:
      'After this many days a fill joins the next batch, however few accounts traded. 0 disables the wait.',
    fallback: '5',
  }),
  ENCLAVE_LISTEN: withDefault(listen, {
    section: 'An enclave that stays up (npm run enclave); a variable of the process wins over this file',
    about:
      'Where jobs are posted to: host:port, or unix: and an absolute path. Put a TLS proxy in front of a port that other machines reach.',
    fallback: '127.0.0.1:8700',
  }),
  ENCLAVE_TRIGGER_SECRET: optional(runSecretSchema, {
    secret: true,
    about:
      "The server's ENCLAVE_TRIGGER_SECRET (echo whsec_$(openssl rand -base64 32)); unset: the file secret in ENCLAVE_STATE_DIR.",
  }),
  ENCLAVE_STATE_DIR: withDefault(z.string(), {
    about:
      'Directory that remembers which runs were taken, on a local disk; one enclave per directory. Never copy it: a copy is another enclave.',
    fallback: './data/enclave',
  }),
  MAX_RUNS: withDefault(integer(1, 1_000), {
    about: "Runs at the same time: the server's ENCLAVE_MAX_RUNS and four more, at least.",
    fallback: '256',
  }),
  LOG_LEVEL: withDefault(logLevel(), {
    about: `How much is logged to standard error: ${LOG_LEVELS.join(', ')}.`,
    fallback: 'info',
  }),
}
export type CommonConfig = z.output<z.ZodObject<typeof commonSettings>>

/** Variables that a process may be given beside its file: its starter chooses where it listens and what it remembers. */
export const RESIDENT_VARIABLES = [
  'ENCLAVE_LISTEN',
  'ENCLAVE_TRIGGER_SECRET',
  'ENCLAVE_STATE_DIR',
  'MAX_RUNS',
  'LOG_LEVEL',
] as const
