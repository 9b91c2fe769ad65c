// Orders in the portfolio whose escrow has ended without the enclave: reclaimed, seven days after their deadline.
import type { BrokerOrder } from '../../broker/index.js'
import type { Hex } from '../../protocol/hex.js'
import type { OpenOrder, Portfolio } from '../../protocol/portfolio.js'
import { withFill, withoutOrder } from '../books.js'
import type { Look } from '../chainState.js'
import { codeOf, type FailureCode } from '../failures.js'
import type { Run } from '../run.js'
import { type AccountState, writePortfolio } from './accountState.js'
import { COST_OVER_NOTIONAL, cancel, costsMore, findOrder } from './brokerOrder.js'
import { readEscrow } from './depth.js'
import { termsOfEntry } from './terms.js'

/** In a result's `code`: a buy was reclaimed after its fill. The shares are the platform's, and so is the loss. */
export const RECLAIMED_AFTER_FILL = 'reclaimed-after-fill'

export interface Finished {
  state: AccountState
  /** Orders whose escrow has ended, and what the broker has of them. */
  ended: Map<Hex, AtBroker>
  /** What the platform has lost by them; the worst of all. */
  loss: Loss | undefined
}

/** In a result's `code`: a buy's fill was lost to its reclaim, or cost more than its amount. */
export type Loss = typeof RECLAIMED_AFTER_FILL | typeof COST_OVER_NOTIONAL

/** Takes the effect of every order of the account that was reclaimed, in a write of its own each. */
export async function finishEnded(run: Run, state: AccountState, look: Look): Promise<Finished> {
  const ended: Finished['ended'] = new Map()
  let now = state
  let loss: Loss | undefined
  for (const { orderId, entry, escrow } of await endedOrders(run, state.portfolio, look)) {
    const end = await endAtBroker(run, now.portfolio, orderId)
    ended.set(orderId, end)
    if (end.kind === 'unfinished') continue
    loss = worse(loss, end.loss)
    if (loss) await run.report({ outcome: 'failed', code: loss })
    const terms = termsOfEntry(orderId, entry, escrow)
    now = await writePortfolio(run, now, withEnded(run, now.portfolio, orderId, end.order), {
      terms,
      required: 'REFUNDED',
    })
  }
  return { state: now, ended, loss }
}

/**
 * Orders that the escrow has refunded, at the head and at the stated depth. One that it does not know is none of them:
 * a reorganization may be opening it anew.
 */
async function endedOrders(run: Run, { openOrders }: Portfolio, look: Look) {
  const held = await Promise.all(
    Object.entries(openOrders).map(async ([id, entry]) => {
      const orderId: Hex = `0x${id.slice(2)}`
      const [escrow, deep] = await readEscrow(run, orderId, look)
      return { orderId, entry, escrow, ended: escrow.state === 'REFUNDED' && deep.state === 'REFUNDED' }
    }),
  )
  return held.filter(({ ended }) => ended)
}

/**
 * What the broker has of an order. `unfinished`: it is still live after the cancellation; or a person has to look, and
 * `code` says why: there is another's order under our id, or one that cannot be read. The account goes on. `ended`: the
 * order, or null when there is none.
 */
type AtBroker =
  | { kind: 'unfinished'; code?: FailureCode }
  | { kind: 'ended'; order: BrokerOrder | null; loss: Loss | undefined }

const LEFT_TO_A_PERSON: ReadonlySet<FailureCode> = new Set(['broker-mismatch', 'broker-unreadable'])

/**
 * The order at the broker, cancelled when it was live. One look is enough: nothing is placed after the deadline, and a
 * reclaim comes seven days later.
 */
async function endAtBroker(run: Run, { openOrders }: Portfolio, orderId: Hex): Promise<AtBroker> {
  const entry = openOrders[orderId]
  try {
    const found = entry ? await findOrder(run, orderId, entry) : null
    const order = found?.state === 'live' ? await cancel(run, found) : found
    if (order?.state === 'live') return { kind: 'unfinished' }
    return { kind: 'ended', order, loss: entry && order ? lossOf(entry, order) : undefined }
  } catch (error) {
    const code = codeOf(error)
    if (LEFT_TO_A_PERSON.has(code)) return { kind: 'unfinished', code }
    throw error
  }
}

/**
 * A sale, or a buy from cash, takes its fill's effect. A buy out of the escrow has been paid back and is dropped, its
 * shares stay the platform's.
 */
function withEnded({ fees }: Run, portfolio: Portfolio, orderId: Hex, order: BrokerOrder | null): Portfolio {
  const escrowed = portfolio.openOrders[orderId]?.escrow ?? 0n
  if (!order || escrowed > 0n) return withoutOrder(portfolio, orderId)
  return withFill(portfolio, orderId, order, { credited: 0n, fees })
}

/** @throws RunFailure `broker-mismatch` when a buy from cash cost more than the tolerance allows */
function lossOf(entry: OpenOrder, order: BrokerOrder): Loss | undefined {
  if (order.filledQty === 0n) return undefined
  if (entry.escrow > 0n) return RECLAIMED_AFTER_FILL
  return costsMore(entry, order) ? COST_OVER_NOTIONAL : undefined
}

/** A fill that was lost outranks a cost that was too high. */
export function worse(one: Loss | undefined, other: Loss | undefined): Loss | undefined {
  return one === RECLAIMED_AFTER_FILL ? one : (other ?? one)
}
