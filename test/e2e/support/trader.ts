import type { Contracts, Usdc } from '../../../src/chain/contracts.js'
import type { Client, OrderRequest, OrderTerms, Portfolio } from '../../../src/client/index.js'
import type { OrderStatus } from '../../../src/protocol/api.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { clientOrderIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import type { Outcome } from '../../../src/protocol/outcome.js'
import type { SandboxAccount } from '../../../src/sandbox/accounts.js'
import { clientOf } from '../../../src/sandbox/demo.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { eventually } from '../../support/eventually.js'

/** An order, for an hour unless it says otherwise. */
export type Order = OrderTerms & Pick<OrderRequest, 'deadline'>

/** An employee at the desk. */
export interface Trader {
  readonly account: SandboxAccount
  readonly client: Client
  /** Signs, seals, opens the escrow and submits; resolves with the orderId. */
  send(order: Order): Promise<Hex>
  /** Resolves with the status once the escrow is settled or refunded and no run is under way. */
  ended(orderId: Hex): Promise<OrderStatus>
  /** Sends and waits for the end. */
  trade(order: Order): Promise<OrderStatus>
  /** Resolves once a run ended so. */
  reaches(orderId: Hex, outcome: Outcome): Promise<OrderStatus>
  /** The portfolio as the employee decrypts it; throws when there is none. */
  portfolio(): Promise<Portfolio>
  /** USDC base units in the wallet. */
  wallet(): Promise<bigint>
  /** Shares of a symbol in the wallet, in base units. */
  shares(symbol: string): Promise<bigint>
  /** The code of the notice that the order was refused with. */
  reason(status: OrderStatus): Promise<string | undefined>
}

export interface TraderDeps {
  readonly sandbox: Sandbox
  readonly contracts: Contracts
  readonly usdc: Usdc
  readonly account: SandboxAccount
}

/** Seconds that an order may take unless its test says otherwise. */
const LIFETIME = 3_600

export function createTrader({ sandbox, contracts, usdc, account }: TraderDeps): Trader {
  const client = clientOf(sandbox, account)

  async function send(order: Order): Promise<Hex> {
    const block = await sandbox.provider.getBlock('latest')
    const deadline = order.deadline ?? (block?.timestamp ?? 0) + LIFETIME
    const placed = await client.placeOrder({ ...order, deadline })
    return placed.order.orderId
  }

  function ended(orderId: Hex): Promise<OrderStatus> {
    return eventually(`order ${orderId} ends`, async () => {
      const status = await client.getOrder(orderId)
      const final = status.state === 'SETTLED' || status.state === 'REFUNDED'
      const running = status.triggers.some(({ finishedAt }) => finishedAt === null)
      return final && !running && status
    })
  }

  return {
    account,
    client,
    send,
    ended,
    trade: async (order) => ended(await send(order)),
    reaches: (orderId, outcome) =>
      eventually(`a run of ${orderId} ends as ${outcome}`, async () => {
        const status = await client.getOrder(orderId)
        return status.triggers.some((run) => run.outcome === outcome) && status
      }),
    async portfolio() {
      const opened = await client.getPortfolio()
      if (!opened) throw new Error('the employee has no portfolio yet')
      return opened.portfolio
    },
    wallet: () => usdc.balanceOf(account.address),
    shares: (symbol) => contracts.token.balanceOf(account.address, nameToBytes32(symbol)),
    reason: async (status) => (await client.openNotice(status))?.code,
  }
}

/** The broker's own record of an order, or undefined when it never came there. */
export function brokerOrder({ broker }: Sandbox, orderId: Hex) {
  return broker.orders().find((order) => order.client_order_id === clientOrderIdOf(orderId))
}
