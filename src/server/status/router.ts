import { addressSchema } from '../../protocol/address.js'
import {
  complianceSchema,
  type Health,
  type HealthChecks,
  healthChecksSchema,
  healthSchema,
  institutionSchema,
  marketBarsSchema,
  marketClockSchema,
  marketSchema,
  walletSchema,
} from '../../protocol/api.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { parseParam } from '../http/body.js'
import { Problem } from '../http/errors.js'
import { read } from '../http/routes.js'
import { MarketUnavailableError } from './market.js'
import type { StatusViews } from './views.js'

/**
 * Wallet screen, institution, compliance flags, market with bars and clock, and the server's own set-up.
 * @param health from memory, so no outage of a dependency delays it
 * @param checks never rejects
 */
export function statusReads(views: StatusViews, health: () => Health, checks: () => Promise<HealthChecks>) {
  const walletIn = (address: string) => parseParam(addressSchema, 'address', address)
  return [
    read('/wallet/:address', walletSchema, (address) => views.wallet(walletIn(address))),
    read('/org/:orgId', institutionSchema, async (orgId) => {
      const institution = await views.institution(parseParam(bytes32Schema, 'orgId', orgId))
      if (institution === null) throw new Problem('institution-not-found')
      return institution
    }),
    read('/compliance/:address', complianceSchema, (address) => views.compliance(walletIn(address))),
    read('/market', marketSchema, () => views.market().catch(throwProblem)),
    read('/market/bars', marketBarsSchema, () => views.marketBars().catch(throwProblem)),
    read('/market/clock', marketClockSchema, () => views.marketClock().catch(throwProblem)),
    read('/health', healthSchema, health),
    read('/health/checks', healthChecksSchema, checks),
  ]
}

function throwProblem(error: unknown): never {
  if (!(error instanceof MarketUnavailableError)) throw error
  const headers = { 'Retry-After': String(error.retryAfterSeconds) }
  throw new Problem('market-unavailable', { cause: error.cause, headers })
}
