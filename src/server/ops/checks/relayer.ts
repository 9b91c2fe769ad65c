import { isChainFailure } from '../../../chain/errors.js'
import { LEAST_GAS } from '../../../chain/fees.js'
import type { GasLimits } from '../../relay/gasBudget.js'
import type { RelayHealth } from '../../relay/health.js'
import type { CheckReason } from '../reasons.js'

/** The share of the day's gas that is worth a word, as a divisor. */
const LOW_GAS_DIVISOR = 10n
/** How often the floor fits into a balance that is worth a word. */
const LOW_BALANCE_FACTOR = 2n

/** Looks at the account that pays the gas, and remembers its balance for the metrics. */
export interface RelayerView {
  look(): Promise<CheckReason | null>
  /** Wei, as the last look found; undefined when it could not. */
  balance(): bigint | undefined
}

export function createRelayerView(options: {
  readonly health: () => Promise<RelayHealth>
  readonly gas: Pick<GasLimits, 'perDay' | 'reserve'>
}): RelayerView {
  let balance: bigint | undefined
  return {
    balance: () => balance,
    async look() {
      try {
        const health = await options.health()
        balance = health.balance
        return faultOf(health, options.gas)
      } catch (error) {
        balance = undefined
        if (isChainFailure(error)) return 'chain-unavailable'
        throw error
      }
    },
  }
}

function faultOf(
  { isFunded, balance, minBalance, gasLeft, reserveLeft, isKeyShared }: RelayHealth,
  { perDay, reserve }: Pick<GasLimits, 'perDay' | 'reserve'>,
): CheckReason | null {
  if (!isFunded) return 'relayer-underfunded'
  // No order gets through with less.
  if (reserveLeft < LEAST_GAS) return 'gas-reserve-used-up'
  if (gasLeft < LEAST_GAS) return 'gas-budget-used-up'
  if (isKeyShared) return 'key-used-elsewhere'
  if (balance < minBalance * LOW_BALANCE_FACTOR) return 'balance-low'
  return gasLeft < (perDay - reserve) / LOW_GAS_DIVISOR ? 'gas-budget-low' : null
}
