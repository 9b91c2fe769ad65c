import type { Traders } from './traders.js'

/** Finds cancels without an answer, and those that no server knows any more. */
export async function findLostCancels({ clients, placed }: Traders): Promise<string[]> {
  const found = [...placed.values()].map(async ({ planned, sealed: { orderId }, cancel }) => {
    if (planned.cancelAfterMs === undefined || cancel === 'too-late') return []
    if (cancel === undefined) return [`the cancel of ${orderId} was never answered`]
    const status = await clients[planned.trader]?.getOrder(orderId).catch(() => undefined)
    return status?.cancelReceivedAt === undefined ? [`the cancel of ${orderId} is lost`] : []
  })
  return (await Promise.all(found)).flat()
}
