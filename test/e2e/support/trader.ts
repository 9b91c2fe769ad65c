import type { Contracts, Usdc } from '../../../src/chain/contracts.js'
import type { OrderRequest, OrderTerms } from '../../../src/client/index.js'
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
export type Trader = ReturnType<typeof createTrader>

/** Seconds that an order may take unless its test says otherwise. */
const LIFETIME = 3_600

export function createTrader(
  { sandbox, contracts, usdc }: { sandbox: Sandbox; contracts: Contracts; usdc: Usdc },
  account: SandboxAccount,
) {
  const client = clientOf(sandbox, account)

  /** Signs, seals, opens the escrow and submits; resolves with the orderId. */
  async function send(order: Order): Promise<Hex> {
    const block = await sandbox.provider.getBlock('latest')
    const deadline = order.deadline ?? (block?.timestamp ?? 0) + LIFETIME
    const placed = await client.placeOrder({ ...order, deadline })
    return placed.order.orderId
  }

  /** Resolves with the status once the escrow is settled or refunded and no run is under way. */
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
    /** Sends and waits for the end. */
    trade: async (order: Order) => ended(await send(order)),
    /** Resolves once a run ended so. */
    reaches: (orderId: Hex, outcome: Outcome) =>
      eventually(`a run of ${orderId} ends as ${outcome}`, async () => {
        const status = await client.getOrder(orderId)
        return status.triggers.some((run) => run.outcome === outcome) && status
      }),
    /** The portfolio as the employee decrypts it; throws when there is none. */
    async portfolio() {
      const opened = await client.getPortfolio()
      if (!opened) throw new Error('the employee has no portfolio yet')
      return opened.portfolio
    },
    /** USDC base units in the wallet. */
    wallet: () => usdc.balanceOf(account.address),
    /** Shares of a symbol in the wallet, in base units. */
    shares: (symbol: string) => contracts.token.balanceOf(account.address, nameToBytes32(symbol)),
    /** The code of the notice that the order was refused with. */
    reason: async (status: OrderStatus) => (await client.openNotice(status))?.code,
  }
}

/** The broker's own record of an order, or undefined when it never came there. */
export function brokerOrder({ broker }: Sandbox, orderId: Hex) {
  return broker.orders().find((order) => order.client_order_id === clientOrderIdOf(orderId))
}
