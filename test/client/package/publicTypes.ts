// What users lean on, as types: each line compiles while it holds. `npm run types` compiles it here, and package.test.ts with the package
// in place of the sources.
import type {
  Client,
  ClientErrorCode,
  ContractError,
  HistoryEntry,
  Mined,
  NotSubmittedError,
  OrderList,
  OrderRequest,
  OrderStatus,
  PlaceStep,
  Reader,
  SealedOrder,
  ServerError,
  TradingError,
} from '../../../src/client/index.js'

/** Both types are the same, also where one would take the other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Yielded<T> = T extends AsyncGenerator<infer Each, void, undefined> ? Each : never

export const request: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend: 1n, deadline: 1 }
export const limited: OrderRequest = {
  ...{ side: 'SELL', symbol: 'AAPL', maxSpend: 1n, deadline: 1 },
  limit: { price: 190_500_000n, timeInForce: 'GTD' },
}
// @ts-expect-error: an amount in floating point.
export const inexact: OrderRequest = { ...request, maxSpend: 0.5 }
// @ts-expect-error: no such side.
export const short: OrderRequest = { ...request, side: 'SHORT' }
// @ts-expect-error: an order without its deadline.
export const endless: OrderRequest = { side: 'BUY', symbol: 'AAPL', maxSpend: 1n }

export const holds: readonly true[] = [
  true satisfies Same<OrderRequest['side'], 'BUY' | 'SELL' | 'WITHDRAW' | 'DEPOSIT'>,
  true satisfies Same<OrderStatus['state'], 'NONE' | 'OPEN' | 'SETTLED' | 'REFUNDED'>,
  true satisfies Same<PlaceStep, 'authorizing' | 'approving' | 'opening' | 'submitting'>,
  true satisfies Same<NotSubmittedError['order'], SealedOrder>,
  true satisfies Same<NotSubmittedError['code'], ClientErrorCode>,
  true satisfies Same<TradingError['retryable'], boolean>,
  true satisfies Same<ServerError['status'], number>,
  true satisfies Same<ContractError['code'], string>,
  true satisfies Same<Mined['txHash'], `0x${string}`>,
  true satisfies Same<Yielded<ReturnType<Client['followOrder']>>, OrderStatus>,
  true satisfies Same<Yielded<ReturnType<Client['getOrders']>>, OrderList>,
  true satisfies Same<Yielded<ReturnType<Client['getHistory']>>, HistoryEntry>,
  true satisfies Same<ReturnType<Reader['getOrder']>, Promise<OrderStatus>>,
]

/** A switch over the codes that a page words by itself: a code that is gone or renamed does not compile. */
export function isTheUsersNo(code: ClientErrorCode): boolean {
  return code === 'wallet-refused' || code === 'signature-refused' || code === 'transaction-refused'
}
