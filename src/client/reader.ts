import type * as z from 'zod/mini'
import {
  type ComplianceView,
  complianceSchema,
  type Health,
  type HealthChecks,
  healthChecksSchema,
  healthSchema,
  type InstitutionView,
  institutionSchema,
  type MarketBars,
  type MarketClock,
  type MarketView,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  type PolicyVersion,
  policyVersionSchema,
  type WalletView,
  walletSchema,
} from '../protocol/api.js'
import { type EnclaveKey, enclaveKeySchema } from '../protocol/enclaveKey.js'
import type { Hex } from '../protocol/hex.js'
import { type CallOptions, createHttp, type Http } from './http.js'
import { createOrders, type Orders } from './orders.js'
import { DEFAULT_TIMING, type RetryTiming, withRetries } from './retry.js'

/** The server's address, and the limits of requests to it. */
export interface ReaderOptions {
  readonly serverUrl: string
  /** Timeout of one request; default 15 s. */
  readonly timeoutMs?: number | undefined
  readonly timing?: RetryTiming | undefined
  readonly fetch?: typeof fetch | undefined
}

/** The server's public data, which the chain does not prove. Every method may throw ClientError and ServerError. */
export interface Reader extends Orders {
  /**
   * The wallet's screen, and its pending clearances.
   * @example const { screen, waitingFor } = await client.getWallet(account)
   */
  getWallet(address: Hex, options?: CallOptions): Promise<WalletView>
  /**
   * @throws ServerError `institution-not-found`
   * @example const { name, walletCount } = await client.getInstitution(orgId)
   */
  getInstitution(orgId: Hex, options?: CallOptions): Promise<InstitutionView>
  /** @example const { equities } = await client.getCompliance(account) */
  getCompliance(address: Hex, options?: CallOptions): Promise<ComplianceView>
  /** @example const { symbols } = await client.getMarket({ signal: AbortSignal.timeout(5_000) }) */
  getMarket(options?: CallOptions): Promise<MarketView>
  /**
   * Prices of the last five days, of all listed symbols.
   * @example const { barSeconds, symbols } = await client.getMarketBars()
   */
  getMarketBars(options?: CallOptions): Promise<MarketBars>
  /** @example const { isOpen, nextOpen } = await client.getMarketClock() */
  getMarketClock(options?: CallOptions): Promise<MarketClock>
  /** @example const { symbols, chainId } = await client.getHealth() */
  getHealth(options?: CallOptions): Promise<Health>
  /**
   * The checks of the server's readiness, the relayer's balances in wei, and the gas of the day.
   * @example const { status, gas } = await client.getHealthChecks()
   */
  getHealthChecks(options?: CallOptions): Promise<HealthChecks>
  /** @example const { publicKey, escrow } = await client.getEnclaveKey() */
  getEnclaveKey(options?: CallOptions): Promise<EnclaveKey>
  /**
   * @throws ServerError `institution-not-found`
   * @example const { version } = await client.getPolicyVersion(orgId)
   */
  getPolicyVersion(orgId: Hex, options?: CallOptions): Promise<PolicyVersion>
}

const TIMEOUT_MS = 15_000

/**
 * Reads without a wallet, for a page that shows market and orders before one is connected.
 * @throws ClientError `insecure-url`
 * @example const { symbols } = await createReader({ serverUrl: 'https://trading.example' }).getMarket()
 */
export function createReader(options: ReaderOptions): Reader {
  const deps = readerDeps(options)
  return readerOf(deps, createOrders(deps))
}

/** The dependencies of a reader, with defaults for absent options. */
export function readerDeps({
  serverUrl,
  timeoutMs = TIMEOUT_MS,
  timing = DEFAULT_TIMING,
  fetch,
}: ReaderOptions) {
  return { http: createHttp({ serverUrl, timeoutMs, fetch }), timing }
}

interface ReaderDeps {
  readonly http: Http
  readonly timing: RetryTiming
}

export function readerOf({ http, timing }: ReaderDeps, orders: Orders): Reader {
  const get = <T>(path: string, schema: z.ZodMiniType<T>, { signal }: CallOptions = {}) =>
    withRetries(() => http.get(path, schema, { signal }), timing, signal)
  return {
    getWallet: (address, options) => get(`/wallet/${address}`, walletSchema, options),
    getInstitution: (orgId, options) => get(`/org/${orgId}`, institutionSchema, options),
    getCompliance: (address, options) => get(`/compliance/${address}`, complianceSchema, options),
    getMarket: (options) => get('/market', marketSchema, options),
    getMarketBars: (options) => get('/market/bars', marketBarsSchema, options),
    getMarketClock: (options) => get('/market/clock', marketClockSchema, options),
    getHealth: (options) => get('/health', healthSchema, options),
    getHealthChecks: (options) => get('/health/checks', healthChecksSchema, options),
    getEnclaveKey: (options) => get('/enclave-key', enclaveKeySchema, options),
    getPolicyVersion: (orgId, options) => get(`/policy/${orgId}`, policyVersionSchema, options),
    ...orders,
  }
}
