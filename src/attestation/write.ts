// The enclave's side: the statement that its evidence is about.
import canonicalize from 'canonicalize'
import { type FeeSchedule, formatFees } from '../protocol/fees.js'
import type { Hex } from '../protocol/hex.js'
import { sha256 } from './bytes.js'
import { STARTING, type StartingStatement } from './starting.js'
import { BORN, readStatement, type Statement } from './statement.js'

/** The enclave's settings that decide about money or secrecy, as its configuration has them. */
interface StatedSettings {
  /** Every order goes there in plaintext. */
  readonly ALPACA_TRADING_URL: string
  /** Its owner sees each order, and holds what backs the shares. */
  readonly ALPACA_ACCOUNT_ID: string
  /** Its prices decide how many shares are sold. */
  readonly ALPACA_DATA_URL: string
  readonly BROKER_FEES: FeeSchedule
  /** The chain is what these say. */
  readonly RPC_URL: readonly string[]
  readonly RPC_WITNESS_URL: readonly string[]
  readonly CHAIN_DEPTH: number | string
  readonly CHAIN_MAX_HEAD_AGE: number
  /** A policy that names a configuration names the contracts by these. */
  readonly CHAIN_ID: number
  readonly INSTITUTION_REGISTRY_ADDRESS: string
  readonly ORDER_ESCROW_ADDRESS: string
  readonly CONFIDENTIAL_LEDGER_ADDRESS: string
  readonly EQUITY_TOKEN_ADDRESS: string
  readonly PLATFORM_POOL_ADDRESS: string
  /** Milliseconds. An order that is absent at the broker after the second, which the first bounds from below, is refunded. */
  readonly BROKER_TIMEOUT: number
  readonly ABSENT_RECHECK_AFTER: number
  readonly MIN_ORDER: bigint
  readonly MIN_WITHDRAWAL: bigint
  /** Fewer accounts let a batch show the size of one account's trade. */
  readonly RECONCILE_MIN_ACCOUNTS: number
  readonly RECONCILE_MAX_DELAY_DAYS: number
  /** So many of these together know the ledger. */
  readonly MASTER_KEY_HOLDERS: readonly string[]
  readonly MASTER_KEY_THRESHOLD: number
  /** Opens with their keys, too: so a configuration names former ones alone, whose digests it has, and never a later one. */
  readonly FORMER_PROGRAMS: readonly { readonly measurement: Hex; readonly config: Hex }[]
}

/**
 * The public configuration: of URLs the hosts, because the rest may be a key; of durations milliseconds.
 * @returns text by setting
 */
export function configurationOf(settings: StatedSettings): Statement['configuration'] {
  const hostOf = (url: string) => new URL(url).host
  const hostsOf = (urls: readonly string[]) => urls.map(hostOf).join()
  return {
    ALPACA_TRADING_URL: hostOf(settings.ALPACA_TRADING_URL),
    ALPACA_DATA_URL: hostOf(settings.ALPACA_DATA_URL),
    ALPACA_ACCOUNT_ID: settings.ALPACA_ACCOUNT_ID,
    BROKER_FEES: formatFees(settings.BROKER_FEES),
    RPC_URL: hostsOf(settings.RPC_URL),
    RPC_WITNESS_URL: hostsOf(settings.RPC_WITNESS_URL),
    CHAIN_DEPTH: `${settings.CHAIN_DEPTH}`,
    CHAIN_MAX_HEAD_AGE: `${settings.CHAIN_MAX_HEAD_AGE}`,
    CHAIN_ID: `${settings.CHAIN_ID}`,
    INSTITUTION_REGISTRY_ADDRESS: settings.INSTITUTION_REGISTRY_ADDRESS,
    ORDER_ESCROW_ADDRESS: settings.ORDER_ESCROW_ADDRESS,
    CONFIDENTIAL_LEDGER_ADDRESS: settings.CONFIDENTIAL_LEDGER_ADDRESS,
    EQUITY_TOKEN_ADDRESS: settings.EQUITY_TOKEN_ADDRESS,
    PLATFORM_POOL_ADDRESS: settings.PLATFORM_POOL_ADDRESS,
    BROKER_TIMEOUT: `${settings.BROKER_TIMEOUT}`,
    ABSENT_RECHECK_AFTER: `${settings.ABSENT_RECHECK_AFTER}`,
    MIN_ORDER: `${settings.MIN_ORDER}`,
    MIN_WITHDRAWAL: `${settings.MIN_WITHDRAWAL}`,
    RECONCILE_MIN_ACCOUNTS: `${settings.RECONCILE_MIN_ACCOUNTS}`,
    RECONCILE_MAX_DELAY_DAYS: `${settings.RECONCILE_MAX_DELAY_DAYS}`,
    MASTER_KEY_HOLDERS: settings.MASTER_KEY_HOLDERS.join(),
    MASTER_KEY_THRESHOLD: `${settings.MASTER_KEY_THRESHOLD}`,
    FORMER_PROGRAMS: settings.FORMER_PROGRAMS.map(
      ({ measurement, config }) => `${measurement}:${config}`,
    ).join(),
  }
}

/**
 * The canonical JSON (RFC 8785) of a statement. Its SHA-256 is the evidence's user data.
 * @throws AttestationError `malformed-statement`, also for more than 4,096 bytes
 */
export async function encodeStatement(statement: Statement | StartingStatement): Promise<string> {
  const text = canonicalize(statement) ?? ''
  await (statement.origin === 'born' ? readStatement(text, BORN) : readStatement(text, STARTING))
  return text
}

/** `0x` and SHA-256 of a configuration's canonical JSON, as a policy and `Authority` have it. */
export async function configDigest(configuration: Statement['configuration']): Promise<Hex> {
  return `0x${await sha256(canonicalize(configuration) ?? '')}`
}
