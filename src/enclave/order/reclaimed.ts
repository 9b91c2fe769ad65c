// Orders in the portfolio whose escrow has ended without the enclave: reclaimed, seven days after their deadline.
import type { BrokerOrder } from '../../broker/index.js'
import type { Hex } from '../../protocol/hex.js'
import type { OpenOrder, Portfolio } from '../../protocol/portfolio.js'
import { codeOf, type FailureCode } from '../failures.js'
import type { Look } from '../heads.js'
import { withFill, withoutOrder } from '../money.js'
import type { Run } from '../run.js'
import { COST_OVER_NOTIONAL, cancel, costsMore, findByEntry } from './atBroker.js'
import { type AccountState, termsOfEntry } from './life.js'
import { type Placed, wholeOf } from './placements.js'
import { readEscrow } from './read.js'
import { sharesOf, writePortfolio } from './write.js'

/** In a result's `code`: a buy was reclaimed after its fill. The shares are the platform's, and so is the loss. */
const RECLAIMED_AFTER_FILL = 'reclaimed-after-fill'

export interface Finished {
  state: AccountState
  /** Orders whose escrow has ended, and what the broker has of them. */
  ended: Map<Hex, EndAtBroker>
  /** The platform's worst loss by them. */
  loss: Loss | undefined
}

/** In a result's `code`: a buy's fill was lost to its reclaim, or cost more than its amount. */
export type Loss = typeof RECLAIMED_AFTER_FILL | typeof COST_OVER_NOTIONAL

/** Takes the effect of every order of the account that was reclaimed, in a write of its own each. */
export async function finishReclaimed(run: Run, state: AccountState, look: Look): Promise<Finished> {
  const ended: Finished['ended'] = new Map()
  let now = state
  let loss: Loss | undefined
  for (const { orderId, entry, escrow } of await reclaimedOrders(run, state.portfolio, look)) {
    const end = await endAtBroker(run, entry, orderId)
    ended.set(orderId, end)
    if (end.kind === 'unfinished') continue
    loss = worse(loss, end.loss)
    if (loss) await run.report({ outcome: 'failed', code: loss })
    const terms = termsOfEntry(orderId, entry, escrow)
    const qty = end.placed ? await sharesOf(run, now, end.placed) : 0n
    now = await writePortfolio(run, now, withEnd(run, now.portfolio, orderId, { ...end, qty }), {
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
async function reclaimedOrders(run: Run, { openOrders }: Portfolio, look: Look) {
  const orders = await Promise.all(
    Object.entries(openOrders).map(async ([id, entry]) => {
      const orderId: Hex = `0x${id.slice(2)}`
      const [escrow, deep] = await readEscrow(run.chain, orderId, look)
      return { orderId, entry, escrow, ended: escrow.state === 'REFUNDED' && deep.state === 'REFUNDED' }
    }),
  )
  return orders.filter(({ ended }) => ended)
}

/**
 * A reclaimed order at the broker. `unfinished`: it is still live after the cancellation; or a person has to look, and `code`
 * says why: the broker has another order under our id, or one that cannot be read. The account goes on. `ended`: the order, or
 * null when the broker has none.
 */
type EndAtBroker =
  | { kind: 'unfinished'; code?: FailureCode }
  | { kind: 'ended'; placed: Placed | null; loss: Loss | undefined }

/** Failures that come again with each read of the order, until a person acts. */
const LEFT_TO_A_PERSON: ReadonlySet<FailureCode> = new Set(['broker-mismatch', 'broker-unreadable'])

/**
 * The order at the broker, cancelled when it was live. One read is enough: no run places an order after its deadline, and a
 * reclaim comes seven days later.
 */
async function endAtBroker(run: Run, entry: OpenOrder, orderId: Hex): Promise<EndAtBroker> {
  try {
    const placed = await findByEntry(run, orderId, entry)
    if (placed === null) return { kind: 'ended', placed, loss: undefined }
    const { order: last, earlier } = placed
    const order = last.state === 'live' ? await cancel(run, last) : last
    if (order.state === 'live') return { kind: 'unfinished' }
    return { kind: 'ended', placed: { order, earlier }, loss: lossOf(entry, wholeOf({ order, earlier })) }
  } catch (error) {
    const code = codeOf(error)
    if (LEFT_TO_A_PERSON.has(code)) return { kind: 'unfinished', code }
    throw error
  }
}

/**
 * A sale, or a buy from cash, takes its fill's effect. A buy out of the escrow has been paid back and is dropped; its
 * shares stay the platform's.
 */
function withEnd(
  { fees }: Run,
  portfolio: Portfolio,
  orderId: Hex,
  { placed, qty }: { placed: Placed | null; qty: bigint },
): Portfolio {
  const escrowed = portfolio.openOrders[orderId]?.escrow ?? 0n
  if (!placed || escrowed > 0n) return withoutOrder(portfolio, orderId)
  return withFill(portfolio, orderId, wholeOf(placed), { credited: 0n, fees, qty })
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
