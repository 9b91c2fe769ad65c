import { isChainFailure } from '../../../chain/errors.js'
import { LEAST_GAS } from '../../../chain/fees.js'
import type { GasLimits } from '../../relay/gasBudget.js'
import type { RelayHealth } from '../../relay/health.js'
import type { CheckReason } from '../reasons.js'

/** The share of the day's gas that is worth a word, as a divisor. */
const LOW_GAS_DIVISOR = 10n
/** How often the floor fits into a balance that is worth a word. */
const LOW_BALANCE_FACTOR = 2n

/** Looks at the accounts that pay the gas, and remembers their balances for the metrics. */
export interface RelayerView {
  look(): Promise<CheckReason | null>
  /** Wei by the places of the accounts in the configuration, as the last look found; none when it could not. */
  balances(): readonly bigint[]
}

export function createRelayerView(options: {
  readonly health: () => Promise<RelayHealth>
  readonly gas: Pick<GasLimits, 'perDay' | 'reserve'>
}): RelayerView {
  let balances: readonly bigint[] = []
  return {
    balances: () => balances,
    async look() {
      try {
        const health = await options.health()
        balances = health.accounts.map(({ balance }) => balance)
        return faultOf(health, options.gas)
      } catch (error) {
        balances = []
        if (isChainFailure(error)) return 'chain-unavailable'
        throw error
      }
    },
  }
}

function faultOf(
  { accounts, minBalance, gasLeft, reserveLeft, isKeyShared }: RelayHealth,
  { perDay, reserve }: Pick<GasLimits, 'perDay' | 'reserve'>,
): CheckReason | null {
  if (!accounts.some(({ isFunded }) => isFunded)) return 'relayer-underfunded'
  // No order gets through with less.
  if (reserveLeft < LEAST_GAS) return 'gas-reserve-used-up'
  if (gasLeft < LEAST_GAS) return 'gas-budget-used-up'
  if (isKeyShared) return 'key-used-elsewhere'
  const isLow = accounts.some(
    ({ isFunded, balance }) => !isFunded || balance < minBalance * LOW_BALANCE_FACTOR,
  )
  if (isLow) return 'balance-low'
  return gasLeft < (perDay - reserve) / LOW_GAS_DIVISOR ? 'gas-budget-low' : null
}
