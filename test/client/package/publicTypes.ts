// What users lean on, as types: each line compiles while it holds. `npm run types` compiles it here, and package.test.ts with the package
// in place of the sources.
import type { AccountHistory, getHistory, listOrders, OrderList } from '../../../src/client/history.js'
import type {
  Client,
  ClientErrorCode,
  ContractError,
  Mined,
  NotSubmittedError,
  OrderRequest,
  OrderStatus,
  OrderTerms,
  PlaceStep,
  Prompt,
  Reader,
  SealedOrder,
  ServerError,
  ServerErrorCode,
  TradingError,
} from '../../../src/client/index.js'

/** Both types are the same, also where one would take the other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Yielded<T> = T extends AsyncGenerator<infer Each, void, undefined> ? Each : never

export const request: OrderRequest = { side: 'BUY', symbol: 'AAPL', usdc: 1n }
export const orders: readonly OrderRequest[] = [
  { side: 'BUY', symbol: 'AAPL', usdc: 1n, payFrom: 'cash', deadline: 1 },
  { side: 'WITHDRAW', symbol: 'AAPL', shares: 1n, validFor: '4h' },
  { side: 'DEPOSIT', usdc: 1n },
]
const limit = { price: 190_500_000n, timeInForce: 'GTD' } as const
export const limited: OrderRequest = { side: 'SELL', symbol: 'AAPL', usdc: 1n, limit }
// @ts-expect-error: an amount in floating point.
export const inexact: OrderRequest = { side: 'BUY', symbol: 'AAPL', usdc: 0.5 }
// @ts-expect-error: no such side.
export const short: OrderRequest = { side: 'SHORT', symbol: 'AAPL', usdc: 1n }
// @ts-expect-error: a buy by shares.
export const byShares: OrderRequest = { side: 'BUY', symbol: 'AAPL', shares: 1n }
// @ts-expect-error: shares that are withdrawn by their worth.
export const byWorth: OrderRequest = { side: 'WITHDRAW', symbol: 'AAPL', usdc: 1n }
// @ts-expect-error: a withdrawal with a limit.
export const bounded: OrderRequest = { side: 'WITHDRAW', usdc: 1n, limit: { price: 1n, timeInForce: 'DAY' } }
// @ts-expect-error: a duration without its unit.
export const endless: OrderRequest = { side: 'BUY', symbol: 'AAPL', usdc: 1n, validFor: '1' }

export const holds: readonly true[] = [
  true satisfies Same<OrderRequest['side'], 'BUY' | 'SELL' | 'WITHDRAW' | 'DEPOSIT'>,
  true satisfies Same<OrderTerms['side'], OrderRequest['side']>,
  true satisfies Same<OrderStatus['state'], 'NONE' | 'OPEN' | 'SETTLED' | 'REFUNDED'>,
  true satisfies Same<PlaceStep, Prompt['step'] | 'submitting'>,
  true satisfies Same<NotSubmittedError['order'], SealedOrder>,
  true satisfies Same<NotSubmittedError['code'], ClientErrorCode>,
  true satisfies Same<TradingError['retryable'], boolean>,
  true satisfies Same<ServerError['status'], number>,
  true satisfies Same<ServerError['code'], ServerErrorCode>,
  true satisfies Same<ContractError['code'], string>,
  true satisfies Same<ReturnType<Reader['watchOrder']>, () => void>,
  true satisfies Same<Mined['txHash'], `0x${string}`>,
  true satisfies Same<Yielded<ReturnType<Client['listOrderStatuses']>>, OrderStatus>,
  true satisfies Same<Yielded<ReturnType<typeof listOrders>>, OrderList>,
  true satisfies Same<ReturnType<typeof getHistory>, Promise<AccountHistory>>,
  true satisfies Same<ReturnType<Reader['getOrder']>, Promise<OrderStatus>>,
]

/** Generators are `list…`, and nothing else is. */
type Named<T, K = keyof T> = K extends keyof T
  ? T[K] extends (...args: never[]) => infer R
    ? [R, K] extends [AsyncGenerator, `list${string}`]
      ? never
      : R extends AsyncGenerator
        ? K
        : K extends `list${string}`
          ? K
          : never
    : never
  : never
/** Methods `get…` return promises. */
type NoPromise<T, K = keyof T> = K extends keyof T & `get${string}`
  ? T[K] extends (...args: never[]) => Promise<unknown>
    ? never
    : K
  : never
export const misnamed: readonly (Named<Client> | NoPromise<Client>)[] = []
export const noneIs: readonly never[] = misnamed

/** A switch over the codes that a page words by itself: a code that is gone or renamed does not compile. */
export function isTheUsersNo(code: ClientErrorCode): boolean {
  return code === 'wallet-refused' || code === 'signature-refused' || code === 'transaction-refused'
}
export function isGone(code: ServerErrorCode): boolean {
  // @ts-expect-error: no such code.
  return code === 'order-not-found' || code === 'order-not-fond'
}
