import type * as z from 'zod'
import {
  type ComplianceView,
  complianceSchema,
  type EnclaveKey,
  enclaveKeySchema,
  type Health,
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
import type { Hex } from '../protocol/hex.js'
import type { Http } from './http.js'
import { type RetryTiming, withRetries } from './retry.js'

/** The server's read-only views. The chain proves none of this data. */
export interface Views {
  /** The wallet's screen, and its pending clearances. */
  wallet(address: Hex, signal?: AbortSignal): Promise<WalletView>
  /** @throws ServerError `institution-not-found` */
  institution(orgId: Hex, signal?: AbortSignal): Promise<InstitutionView>
  compliance(address: Hex, signal?: AbortSignal): Promise<ComplianceView>
  market(signal?: AbortSignal): Promise<MarketView>
  /** Prices of the last five days, of all listed symbols. */
  bars(signal?: AbortSignal): Promise<MarketBars>
  clock(signal?: AbortSignal): Promise<MarketClock>
  health(signal?: AbortSignal): Promise<Health>
  enclaveKey(signal?: AbortSignal): Promise<EnclaveKey>
  /** @throws ServerError `institution-not-found` */
  policyVersion(orgId: Hex, signal?: AbortSignal): Promise<PolicyVersion>
}

export function createViews({ http, timing }: { http: Http; timing: RetryTiming }): Views {
  const get = <T>(path: string, schema: z.ZodType<T>, signal?: AbortSignal) =>
    withRetries(() => http.get(path, schema, { signal }), timing, signal)
  return {
    wallet: (address, signal) => get(`/wallet/${address}`, walletSchema, signal),
    institution: (orgId, signal) => get(`/org/${orgId}`, institutionSchema, signal),
    compliance: (address, signal) => get(`/compliance/${address}`, complianceSchema, signal),
    market: (signal) => get('/market', marketSchema, signal),
    bars: (signal) => get('/market/bars', marketBarsSchema, signal),
    clock: (signal) => get('/market/clock', marketClockSchema, signal),
    health: (signal) => get('/health', healthSchema, signal),
    enclaveKey: (signal) => get('/enclave-key', enclaveKeySchema, signal),
    policyVersion: (orgId, signal) => get(`/policy/${orgId}`, policyVersionSchema, signal),
  }
}
