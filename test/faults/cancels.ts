import type { AcceptedJob, Notes } from './notes.js'
import type { PlacedOrder, Traders } from './traders.js'

type CancelledOrder = Pick<PlacedOrder, 'cancel'> & {
  readonly sealed: Pick<PlacedOrder['sealed'], 'orderId'>
}

/** Finds cancels without an answer, those that no server knows any more, and runs that began without a stored one. */
export async function findLostCancels({ clients, placed }: Traders, notes: Notes): Promise<string[]> {
  const orders = [...placed.values()]
  const jobs = await notes.jobs()
  const found = orders.map(async ({ planned, sealed: { orderId }, cancel }) => {
    if (planned.cancelAfterMs === undefined || cancel?.answer === 'too-late') return []
    if (cancel === undefined) return [`the cancel of ${orderId} was never answered`]
    const status = await clients[planned.trader]?.getOrder(orderId).catch(() => undefined)
    return status?.cancelReceivedAt === undefined ? [`the cancel of ${orderId} is lost`] : []
  })
  return [...(await Promise.all(found)).flat(), ...runsWithoutCancel(orders, jobs)]
}

/** One run may be on its way to the enclave when its order's cancel is stored. All later ones have it. */
export function runsWithoutCancel(orders: readonly CancelledOrder[], jobs: readonly AcceptedJob[]): string[] {
  return orders.flatMap(({ sealed: { orderId }, cancel }) => {
    if (cancel?.answer !== 'stored') return []
    const late = jobs.filter((job) => job.orderId === orderId && job.at > cancel.at && !job.hasCancel)
    const runs = new Set(late.map(({ runId }) => runId)).size
    return runs > 1 ? [`${runs} runs of ${orderId} began without its cancel`] : []
  })
}
