import { type Broker, type BrokerOrder, createBroker } from '../../src/broker/index.js'
import { formatDecimal, PRICE_DECIMALS, parseDecimal } from '../../src/protocol/units.js'
import {
  type BrokerStandIn,
  type BrokerStandInOptions,
  type StandInAccountConfig,
  startBrokerStandIn,
} from '../../src/sandbox/broker/index.js'

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

export function brokerOf(
  url: string,
  account: { keyId: string; secretKey: string } = ENCLAVE_ACCOUNT,
  timeoutMs = 5_000,
): Broker {
  return createBroker({
    tradingUrl: url,
    dataUrl: url,
    keyId: account.keyId,
    secretKey: account.secretKey,
    timeoutMs,
  })
}

/** The broker at this URL, whose answers about an order say something else. */
export function answering(url: string, change: (order: BrokerOrder) => Partial<BrokerOrder>): Broker {
  const broker = brokerOf(url)
  return {
    ...broker,
    async getOrderByClientOrderId(id) {
      const order = await broker.getOrderByClientOrderId(id)
      return order && { ...order, ...change(order) }
    },
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
