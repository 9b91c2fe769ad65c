import type { Provider } from 'ethers'
import type { Broker } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type {
  ComplianceView,
  InstitutionView,
  MarketClock,
  MarketView,
  WalletView,
} from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import { createComplianceView } from './compliance.js'
import { createInstitutionView } from './institution.js'
import type { ListedSymbols } from './listedSymbols.js'
import { createMarketView } from './market.js'
import { createMarketClockView } from './marketClock.js'
import { createWalletView } from './wallet.js'

/** The read-only views of the status routes. */
export interface StatusViews {
  readonly wallet: (address: Hex) => Promise<WalletView>
  /** Null when the institution is not registered. */
  readonly institution: (orgId: Hex) => Promise<InstitutionView | null>
  readonly compliance: (address: Hex) => Promise<ComplianceView>
  readonly market: () => Promise<MarketView>
  readonly marketClock: () => Promise<MarketClock>
}

export function createStatusViews(deps: {
  readonly contracts: Contracts
  readonly provider: Provider
  readonly symbols: ListedSymbols
  /** The market-data account. */
  readonly broker: Broker
  readonly marketMaxAgeMs: number
  /** Unix ms. */
  readonly now: () => number
}): StatusViews {
  const { contracts, provider, symbols, broker, marketMaxAgeMs, now } = deps
  return {
    wallet: createWalletView(contracts),
    institution: createInstitutionView({ contracts, provider, symbols }),
    compliance: createComplianceView({ token: contracts.token, symbols }),
    market: createMarketView({ broker, symbols, maxAgeMs: marketMaxAgeMs, now }),
    marketClock: createMarketClockView({ broker, now }),
  }
}
