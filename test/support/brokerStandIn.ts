import { brokerOf as clientOf, createParts } from '../../src/broker/broker.js'
import {
  type Broker,
  type BrokerOptions,
  type BrokerOrder,
  createSharedBroker,
  type OrderRequest,
  type Placement,
  type SharedBroker,
} from '../../src/broker/index.js'
import { postOrder } from '../../src/broker/orders.js'
import { formatDecimal, PRICE_DECIMALS, parseDecimal } from '../../src/protocol/units.js'
import {
  type BrokerStandIn,
  type BrokerStandInOptions,
  type StandInAccountConfig,
  startBrokerStandIn,
} from '../../src/simulator/index.js'

export const ENCLAVE_ACCOUNT: StandInAccountConfig = {
  name: 'enclave',
  keyId: 'PKENCLAVE',
  secretKey: 'enclave-secret',
  cash: '100000',
}

export const SERVER_ACCOUNT: StandInAccountConfig = {
  name: 'server',
  keyId: 'PKSERVER',
  secretKey: 'server-secret',
  cash: '0',
}

/** Two accounts, two symbols, fills at once, prices that stand still. */
export function startStandIn(options: Partial<BrokerStandInOptions> = {}): Promise<BrokerStandIn> {
  return startBrokerStandIn({
    seed: 1,
    accounts: [ENCLAVE_ACCOUNT, SERVER_ACCOUNT],
    symbols: [
      { symbol: 'AAPL', name: 'Apple Inc. Common Stock', price: '200' },
      { symbol: 'MSFT', name: 'Microsoft Corporation Common Stock', price: '410.5' },
    ],
    fill: { mode: 'immediate' },
    ...options,
  })
}

type Keys = Pick<BrokerOptions, 'keyId' | 'secretKey'>

function optionsOf(url: string, { keyId, secretKey }: Keys, timeoutMs = 5_000): BrokerOptions {
  return { tradingUrl: url, dataUrl: url, keyId, secretKey, timeoutMs }
}

/** A client that also places orders, one request each, where a test has no turns to give. */
export interface PlacingBroker extends Broker {
  placeOrder(request: OrderRequest): Promise<BrokerOrder>
}

export function placingBroker(options: BrokerOptions): PlacingBroker {
  const parts = createParts(options)
  return {
    ...clientOf(parts),
    async placeOrder(request) {
      const turn = { orderId: '', openedAt: 0 }
      const token = await parts.tradingBudget.take({ purpose: 'place', turn, withinMs: 0 })
      if (token === null) throw new Error('no request is left')
      return postOrder(parts.trading, request, { token, beforeSend: () => undefined })
    },
  }
}

export function brokerOf(url: string, account: Keys = ENCLAVE_ACCOUNT, timeoutMs?: number): PlacingBroker {
  return placingBroker(optionsOf(url, account, timeoutMs))
}

/** The broker as an enclave has it. */
export function sharedBrokerOf(
  url: string,
  changes: Partial<Parameters<typeof createSharedBroker>[0]> = {},
): SharedBroker {
  return createSharedBroker({ ...optionsOf(url, ENCLAVE_ACCOUNT), ...changes })
}

/** The same broker, where something else is done when an order is sent. */
export function sending(
  broker: SharedBroker,
  change: (send: Placement['send']) => Placement['send'],
): SharedBroker {
  return {
    ...broker,
    async reserve(ask) {
      const placement = await broker.reserve(ask)
      return placement && { ...placement, send: change(placement.send) }
    },
  }
}

/** The broker at this URL, whose answers about an order say something else. */
export function answering(url: string, change: (order: BrokerOrder) => Partial<BrokerOrder>): SharedBroker {
  const broker = sharedBrokerOf(url)
  const changed = <T extends BrokerOrder | null>(order: T) => order && { ...order, ...change(order) }
  const sent = sending(
    broker,
    (send) =>
      async (...args) =>
        changed(await send(...args)),
  )
  return {
    ...sent,
    getOrderByClientOrderId: async (id) => changed(await broker.getOrderByClientOrderId(id)),
    readOrder: async (...args) => changed(await broker.readOrder(...args)),
    follow: async (...args) => changed(await broker.follow(...args)),
  }
}

/** Answers with fills at a price so many basis points higher. */
export const dearer = (url: string, basisPoints: bigint) =>
  answering(url, ({ fills }) => ({
    fills: fills.map(({ qty, avgPrice }) => {
      const price = (parseDecimal(avgPrice, PRICE_DECIMALS) * (10_000n + basisPoints)) / 10_000n
      return { qty, avgPrice: formatDecimal(price, PRICE_DECIMALS) }
    }),
  }))

/** USD and share amounts, for readable tests. */
export const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6))
export const shares = (count: number) => BigInt(Math.round(count * 1e9))
