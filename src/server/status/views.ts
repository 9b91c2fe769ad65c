import type { Broker } from '../../broker/index.js'
import type { Contracts } from '../../chain/contracts.js'
import type { Lenses } from '../../chain/lenses.js'
import type {
  ComplianceView,
  InstitutionView,
  MarketClock,
  MarketView,
  WalletView,
} from '../../protocol/api.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import type { Hex } from '../../protocol/hex.js'
import type { ChainHead } from '../reads/chainHead.js'
import { createHeadReads } from '../reads/headReads.js'
import { createComplianceView } from './compliance.js'
import { createInstitutionView } from './institution.js'
import type { ListedSymbols } from './listedSymbols.js'
import { createMarketView } from './market.js'
import { createMarketClockView } from './marketClock.js'
import { walletView } from './wallet.js'

/** The read-only views of the status routes: the very same object again as long as nothing may have changed. */
export interface StatusViews {
  readonly wallet: (address: Hex) => Promise<WalletView>
  /** Null when the institution is not registered. */
  readonly institution: (orgId: Hex) => Promise<InstitutionView | null>
  readonly compliance: (address: Hex) => Promise<ComplianceView>
  readonly market: () => Promise<MarketView>
  readonly marketClock: () => Promise<MarketClock>
}

export function createStatusViews(deps: {
  readonly head: Pick<ChainHead, 'current'>
  readonly contracts: Contracts
  readonly lenses: Lenses
  readonly symbols: ListedSymbols
  /** The market-data account. */
  readonly broker: Broker
  readonly fees: FeeSchedule
  readonly marketMaxAgeMs: number
  readonly marketClockMaxAgeMs: number
}): StatusViews {
  const { head, contracts, lenses, symbols, broker, fees, marketMaxAgeMs, marketClockMaxAgeMs } = deps
  const clocks = { now: Date.now, steadyNow: () => performance.now() }
  return {
    wallet: createHeadReads({
      head,
      read: async (wallet: Hex, block) => walletView(wallet, await lenses.wallet(wallet, block)),
    }),
    institution: createHeadReads({ head, read: createInstitutionView({ contracts, lenses, symbols }) }),
    compliance: createHeadReads({
      head,
      read: createComplianceView({ token: contracts.token, lenses, symbols }),
    }),
    market: createMarketView({ broker, symbols, fees, maxAgeMs: marketMaxAgeMs, ...clocks }),
    marketClock: createMarketClockView({ broker, maxAgeMs: marketClockMaxAgeMs, ...clocks }),
  }
}
