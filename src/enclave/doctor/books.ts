import { type Broker, BrokerError } from '../../broker/index.js'
import type { Rpc } from '../../chain/rpc.js'
import { type Finding, fault, notice, ok, unchecked } from '../../protocol/finding.js'
import { formatDecimal, USDC_DECIMALS } from '../../protocol/units.js'
import type { ChainState } from '../chainState.js'
import type { CommonConfig } from '../commonSettings.js'
import type { EnclaveKeys } from '../keys/keys.js'
import { createPortfolioStore } from '../stores.js'
import { checkMoney, type Disagreement, dividendsOf, type MoneyState, RULES } from './invariants.js'
import { readBooks, readMoneyState } from './moneyState.js'

/** However many accounts disagree, the report names so many. */
const MAX_NAMED = 20

/**
 * Holds every portfolio against chain and broker, as {@link checkMoney} has it, and says which rule does not hold and
 * for which account; no amount. What trades while it reads may look like a fault: run it again, or while the market is
 * closed.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function checkBooks(
  config: Pick<CommonConfig, 'BROKER_FEES' | 'BROKER_FEES_EARLIER'>,
  {
    rpc,
    chain,
    broker,
    keys,
  }: {
    rpc: Pick<Rpc, 'send'>
    chain: ChainState
    broker: Broker
    keys: Pick<EnclaveKeys, 'ledgerKey'>
  },
): Promise<Finding[]> {
  try {
    const since = new Date((await chain.deployedAt()) * 1_000)
    const state = await readMoneyState({
      chain,
      rpc,
      portfolios: createPortfolioStore(chain, keys),
      books: () => readBooks(broker, since),
    })
    const { BROKER_FEES: fees, BROKER_FEES_EARLIER: earlierFees } = config
    const found = checkMoney(state, { fees, earlierFees })
    const { size } = state.portfolios
    const shown = noted(state)
    if (found.length === 0) {
      return [ok('money', `the books of ${size} accounts agree with chain and broker`), ...shown]
    }
    const more = found.length - MAX_NAMED
    return [
      ...found.slice(0, MAX_NAMED).map((each) => fault('money', describe(each))),
      ...(more > 0 ? [fault('money', `and ${more} more`)] : []),
      ...shown,
    ]
  } catch (error) {
    if (error instanceof BrokerError)
      return [unchecked('money', `the broker does not answer (${error.kind})`)]
    throw error
  }
}

/** What is right, and still worth a look: the rest of dividends, and entries of the broker that nobody has accounted for. */
function noted(state: MoneyState): Finding[] {
  const rests = dividendsOf(state).filter(({ booked, credited }) => booked > credited)
  const { others } = state.broker.activities
  const kinds = [...new Set(others.map(({ type }) => type))].sort().slice(0, MAX_NAMED)
  return [
    ...rests.slice(0, MAX_NAMED).map(({ symbol, booked, credited }) => {
      const rest = formatDecimal(booked - credited, USDC_DECIMALS)
      return notice('dividends', `${rest} USDC of what was booked for ${symbol} are in no portfolio`)
    }),
    ...(kinds.length === 0
      ? []
      : [
          notice(
            'broker-entries',
            `the account has entries of kinds that no check knows: ${kinds.join(', ')}`,
          ),
        ]),
  ]
}

function describe({ rule, account, symbol, orderId, day }: Disagreement): string {
  const parts = [account && `account ${account}`, symbol, orderId && `order ${orderId}`, day]
  const whose = parts.filter((part) => part !== undefined)
  const place = whose.length === 0 ? '' : ` (${whose.join(', ')})`
  return `does not hold${place}: ${RULES[rule]}. ${REMEDIES[rule] ?? "Stop the enclave's runs and compare chain and broker"}`
}

const REMEDIES: Partial<Record<Disagreement['rule'], string>> = {
  'cash-as-ordered':
    "If BROKER_FEES has changed, BROKER_FEES_EARLIER names the former rates. Otherwise stop the enclave's runs and compare chain and broker",
  'actions-booked': 'docs/operations/on-fire.md has the exits',
  'fees-as-set': 'Set the present rates and book the difference',
}
