import { createBroker, dayAt } from '../../broker/index.js'
import type { ActionReport } from '../../protocol/actionReport.js'
import { retiredSymbols } from '../../protocol/corporateActions.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import type { ChainState } from '../chainState.js'
import { brokerOptionsOf, type TradingConfig } from '../commonConfig.js'
import { readEvents } from '../halts.js'
import { chainOf } from './chain.js'

/**
 * The corporate actions of every symbol that is or was listed, or that the broker holds, for the owner alone: it
 * shows what the account holds.
 * @throws ChainUnavailableError, ChainAnswerError, BrokerError
 */
export function reportActions(config: TradingConfig): Promise<ActionReport> {
  return actionsOf(chainOf(config).chain, createBroker(brokerOptionsOf(config)))
}

export async function actionsOf(
  chain: Pick<ChainState, 'chainId' | 'addresses' | 'look' | 'token' | 'actions' | 'deployedAt'>,
  broker: Parameters<typeof readEvents>[0]['broker'] &
    Pick<ReturnType<typeof createBroker>, 'getClock' | 'getPositions'>,
): Promise<ActionReport> {
  const { head } = await chain.look()
  const [listed, actions, positions, { timestamp }] = await Promise.all([
    chain.token.listedSymbols(head.hash),
    chain.actions(head),
    broker.getPositions(),
    broker.getClock(),
  ])
  const names = listed.map(bytes32ToName).filter((name) => name !== null)
  const symbols = [...names, ...retiredSymbols(actions), ...positions.map(({ symbol }) => symbol)]
  const today = dayAt(timestamp)
  const events = await readEvents({ broker, chain }, symbols, today)
  return { chainId: chain.chainId, token: chain.addresses.equityToken, today, events }
}
