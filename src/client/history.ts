// The entry `confidential-trading-client/history`: what an account has traded, and what follows from it.
import type { Client } from './client.js'
import { partsOf } from './clientParts.js'
import { type AccountHistory, type HistoryOptions, readHistory } from './history/history.js'
import { type OrderList, type OrderListOptions, ordersOfAccount } from './lists.js'

export { type CsvCell, csvOf } from './csv.js'
export {
  actionWords,
  type Balance,
  type EntryBody,
  effectOf,
  explorerLink,
  type HistoryCursor,
  type HistoryEntry,
  type HistoryKind,
} from './history/entries.js'
export type { AccountHistory, HistoryOptions } from './history/history.js'
export {
  adjustedPrices,
  averageCost,
  type Holding,
  type Holdings,
  holdingsOf,
  type PricePoint,
  type Prices,
  unrealisedGain,
  type ValuePoint,
  valueAt,
  valueOverTime,
} from './history/holdings.js'
export { costLeft, type Disposal, type Lot, type Lots, lotsOf } from './history/lots.js'
export { type OrderSummary, ordersOf, type SaleFees, saleFees } from './history/orderList.js'
export {
  type Period,
  periodOf,
  type Statement,
  type StatementBalance,
  type StatementLine,
  statementOf,
} from './history/statement.js'
export { type StatementFormat, statementFile } from './history/statementFiles.js'
export type { ListedOrder, OrderList, OrderListOptions } from './lists.js'

/**
 * The account's history: orders, fills, refunds, withdrawals, and changes of the key, derived from the
 * portfolio's versions in the chain's calldata. With a pinned escrow it needs no server. `holdingsOf`, `ordersOf` and
 * `valueOverTime` sum it up. After a reorganization it is read again.
 * @throws ClientError `chain-reorganized`: the block of `after` was replaced, read from an earlier cursor; `node-unavailable`,
 *   `unexpected-answer`
 * @example const { entries, finalUntil } = await getHistory(client, { fromBlock: 1 })
 */
export async function getHistory(client: Client, options: HistoryOptions = {}): Promise<AccountHistory> {
  const { within, contracts, actionList } = partsOf(client)
  return readHistory({ ...within(options), actionList, contracts: () => contracts(options) }, options)
}

/**
 * The account's orders by the escrow's events, newest first: yields what has been read so far after each piece of the chain, and
 * at last all of them, with `isComplete`. `limit` bounds their number, `fromBlock` the blocks; `resume` reads on from an
 * earlier listing. With a pinned escrow it needs no server.
 * @throws ClientError `node-unavailable`, `unexpected-answer`
 * @example for await (const { orders } of listOrders(client, { fromBlock: 1, limit: 20 })) console.log(orders.length)
 */
export async function* listOrders(
  client: Client,
  options?: OrderListOptions,
): AsyncGenerator<OrderList, void, undefined> {
  const { within, contracts } = partsOf(client)
  yield* ordersOfAccount({ ...within(options), contracts: await contracts(options) }, options)
}
