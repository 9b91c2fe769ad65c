import { Interface } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import type { Portfolio } from '../../src/client/index.js'
import { bytes32Schema, type Hex } from '../../src/protocol/hex.js'
import { bytes32ToName, clientOrderIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { formatDecimal, parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../src/protocol/units.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { BrokerControl } from '../../src/simulator/index.js'
import { costOf, proceedsOf } from '../support/brokerBooks.js'
import { isDepositOfShares, type PlacedOrder, type Traders } from './traders.js'
import type { World } from './world.js'

const USDC = 'USDC'

/** Base units by holder and asset: `wallet 0x… AAPL`, `escrow USDC`. */
type Holdings = ReadonlyMap<string, bigint>

/** Reads the USDC of everybody, and the shares of wallets and escrow. */
export async function readHoldings({ sandbox, contracts, usdc }: World, symbols: readonly string[] = []) {
  const { employees, brokerFunding } = sandbox.accounts
  const holders: [string, Hex][] = [
    ['escrow', contracts.escrow.address],
    ...employees.map(({ address }): [string, Hex] => [`wallet ${address}`, address]),
  ]
  const payers: [string, Hex][] = [
    ['pool', contracts.pool.address],
    ['broker funding', brokerFunding.address],
  ]
  const cash = [...holders, ...payers].map(
    async ([holder, address]) => [`${holder} ${USDC}`, await usdc.balanceOf(address)] as const,
  )
  const shares = symbols.flatMap((symbol) =>
    holders.map(async ([holder, address]) => {
      const balance = await contracts.token.balanceOf(address, nameToBytes32(symbol))
      return [`${holder} ${symbol}`, balance] as const
    }),
  )
  return new Map(await Promise.all([...cash, ...shares]))
}

/** An order, its escrow's events, and its fill at the broker. */
export interface Case {
  readonly order: {
    readonly accepted: boolean
    readonly request: PlacedOrder['request']
    readonly account: Pick<SandboxAccount, 'address'>
    readonly sealed: Pick<PlacedOrder['sealed'], 'orderId'>
  }
  readonly escrow: EscrowRecord | undefined
  readonly fill: Fill | undefined
}

type BrokerOrder = ReturnType<BrokerControl['orders']>[number]

/** The fill of an order and of its replacements. Prices stand still here, so one price is that of all. */
interface Fill {
  readonly qty: bigint
  readonly avgPrice: string
}

/**
 * Holds every order, every wallet and every portfolio against chain and broker, to the last unit, once all orders have
 * ended.
 *
 * @param before the holdings before the first order
 */
export async function takeCensus(world: World, traders: Traders, before: Holdings): Promise<string[]> {
  const records = await readEscrow(world)
  const fills = groupFills(world.sandbox.broker)
  const cases = [...traders.placed].map(([orderId, order]) => ({
    order,
    escrow: records.get(orderId),
    fill: fills.get(clientOrderIdOf(orderId)),
  }))
  const symbols = new Set(cases.flatMap(({ order: { request } }) => request.symbol ?? []))
  const known = new Set([...traders.placed.keys()].map((orderId) => clientOrderIdOf(orderId)))
  return [
    ...[...fills.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `the broker has an order ${id} that no trader placed`),
    ...cases.flatMap(faultsOfCase),
    ...faultsOfHoldings(cases, before, await readHoldings(world, [...symbols])),
    ...(await Promise.all(
      world.sandbox.accounts.employees.map(async (account, index) =>
        faultsOfPortfolio(cases, account, await traders.clients[index]?.getPortfolio()),
      ),
    ).then((found) => found.flat())),
  ]
}

/** Sums fills under the client_order_id of the first order of each chain of replacements. */
function groupFills(broker: BrokerControl): Map<string, Fill> {
  const orders = broker.orders().filter(({ account }) => account === 'enclave')
  const byId = new Map(orders.map((order) => [order.id, order]))
  const groups = new Map<string, Fill>()
  for (const order of orders) {
    const first = firstOf(order, byId).client_order_id
    const { qty, avgPrice } = groups.get(first) ?? { qty: 0n, avgPrice: '0' }
    groups.set(first, {
      qty: qty + parseDecimal(order.filled_qty, SHARE_DECIMALS),
      avgPrice: order.filled_avg_price ?? avgPrice,
    })
  }
  return groups
}

function firstOf(order: BrokerOrder, byId: ReadonlyMap<string, BrokerOrder>): BrokerOrder {
  const before = order.replaces === null ? undefined : byId.get(order.replaces)
  return before === undefined ? order : firstOf(before, byId)
}

/** Each ends once, and is refunded only when nothing of it was filled. */
export function faultsOfCase({ order, escrow, fill }: Case): string[] {
  const { request } = order
  const { side } = request
  const name = `${side} ${order.sealed.orderId}`
  const faults: string[] = []
  if (!order.accepted) faults.push('was never taken')
  if (escrow?.opens !== 1) faults.push(`was opened ${escrow?.opens ?? 0} times`)
  if (escrow?.ends.length !== 1) faults.push(`has ended ${escrow?.ends.length ?? 0} times`)
  const [end] = escrow?.ends ?? []
  const filled = fill?.qty ?? 0n
  const trades = side === 'BUY' || side === 'SELL'
  if (end?.state === 'REFUNDED' && filled > 0n) faults.push(`was refunded, and ${filled} were filled`)
  if (end?.state === 'SETTLED' && trades && filled === 0n) faults.push('was settled, and nothing was filled')
  if (!trades && fill !== undefined) faults.push('is at the broker')
  if (end !== undefined && end.amount !== escrow?.amount) faults.push('left a part of its escrow')
  const deposited = isDepositOfShares(request) ? `${request.shares} ${request.symbol}` : undefined
  const held = escrow?.deposit ? `${escrow.deposit.shares} ${escrow.deposit.symbol}` : undefined
  if (held !== deposited) faults.push(`had ${held ?? 'no shares'} in escrow`)
  return faults.map((fault) => `${name}: ${fault}`)
}

/** Wallets hold what was withdrawn and not deposited again, and the escrow holds nothing once all orders have ended. */
export function faultsOfHoldings(cases: readonly Case[], before: Holdings, after: Holdings): string[] {
  const expected = new Map([...after.keys()].map((name) => [name, before.get(name) ?? 0n]))
  const add = (name: string, amount: bigint) => expected.set(name, (expected.get(name) ?? 0n) + amount)
  for (const { order, escrow } of cases) {
    const [end] = escrow?.ends ?? []
    if (end?.state !== 'SETTLED') continue
    const wallet = `wallet ${order.account.address}`
    add(`${wallet} ${USDC}`, -end.amount)
    add(`pool ${USDC}`, end.payoutSymbol === null ? end.amount - end.payout : end.amount)
    add(`${wallet} ${end.payoutSymbol ?? USDC}`, end.payout)
    if (escrow?.deposit) add(`${wallet} ${escrow.deposit.symbol}`, -escrow.deposit.shares)
  }
  return [...expected].flatMap(([name, amount]) => {
    const held = after.get(name) ?? 0n
    return held === amount ? [] : [`${name}: ${held} instead of ${amount}`]
  })
}

type Held = Pick<Portfolio, 'cash' | 'positions' | 'openOrders'>

/** The portfolio, as its employee opens it, must be the sum of its orders' effects, with no open order. */
export function faultsOfPortfolio(
  cases: readonly Case[],
  account: Pick<SandboxAccount, 'address'>,
  opened: { readonly portfolio: Held } | null | undefined,
): string[] {
  const own = cases.filter(({ order }) => order.account === account)
  const { cash, positions } = expectedOf(own)
  const portfolio: Held = opened?.portfolio ?? { cash: 0n, positions: {}, openOrders: {} }
  const faults: string[] = []
  const open = Object.keys(portfolio.openOrders).length
  if (open > 0) faults.push(`${open} orders are open still`)
  if (portfolio.cash !== cash) {
    faults.push(`has ${usdcText(portfolio.cash)} in cash instead of ${usdcText(cash)}`)
  }
  for (const symbol of new Set([...positions.keys(), ...Object.keys(portfolio.positions)])) {
    const { qty, locked } = portfolio.positions[symbol] ?? { qty: 0n, locked: 0n }
    const due = positions.get(symbol) ?? 0n
    if (qty !== due) faults.push(`has ${qty} ${symbol} instead of ${due}`)
    if (locked !== 0n) faults.push(`${locked} ${symbol} are locked still`)
  }
  return faults.map((fault) => `the portfolio of ${account.address}: ${fault}`)
}

function expectedOf(cases: readonly Case[]) {
  const positions = new Map<string, bigint>()
  let cash = 0n
  for (const { order, escrow, fill } of cases) {
    const { side, symbol = USDC } = order.request
    const [end] = escrow?.ends ?? []
    if (end?.state !== 'SETTLED') continue
    const add = (to: string, change: bigint) => positions.set(to, (positions.get(to) ?? 0n) + change)
    if (end.payoutSymbol === null) cash -= end.payout
    else add(end.payoutSymbol, -end.payout)
    if (side === 'DEPOSIT') cash += end.amount
    if (escrow?.deposit) add(escrow.deposit.symbol, escrow.deposit.shares)
    if (side === 'WITHDRAW' || side === 'DEPOSIT') continue
    const { qty: shares, avgPrice } = fill ?? { qty: 0n, avgPrice: '0' }
    cash += side === 'BUY' ? end.amount - costOf(shares, avgPrice) : proceedsOf(shares, avgPrice)
    add(symbol, side === 'BUY' ? shares : -shares)
  }
  return { cash, positions }
}

function usdcText(amount: bigint): string {
  return formatDecimal(amount, USDC_DECIMALS)
}

/** An order by the escrow's events. */
interface EscrowRecord {
  /** USDC base units that it held. */
  readonly amount: bigint
  /** The shares that it held instead; null for every order but a deposit of shares. */
  readonly deposit: { readonly symbol: string; readonly shares: bigint } | null
  readonly opens: number
  readonly ends: readonly EscrowEnd[]
}

interface EscrowEnd {
  readonly state: 'SETTLED' | 'REFUNDED'
  /** USDC base units that left the escrow. */
  readonly amount: bigint
  /** The payout to the account on top of it, in the asset's base units. */
  readonly payout: bigint
  /** The symbol of a payout of shares; null for USDC, and without a payout. */
  readonly payoutSymbol: string | null
}

const escrow = new Interface(orderEscrowAbi)
const uint = z.bigint()
const argumentsSchema = z.discriminatedUnion('name', [
  z.object({ name: z.literal('OrderOpened'), orderId: bytes32Schema, amount: uint }),
  z.object({
    ...{ name: z.literal('OrderSettled'), orderId: bytes32Schema, amount: uint },
    ...{ payoutAsset: bytes32Schema, payout: uint },
  }),
  z.object({ name: z.literal('OrderRefunded'), orderId: bytes32Schema, amount: uint }),
])

type OpenRecord = Pick<EscrowRecord, 'deposit'> & { amount: bigint; opens: number; ends: EscrowEnd[] }

/** Reads every order of the chain from the first block's events on. */
async function readEscrow({ sandbox, contracts }: World): Promise<Map<Hex, EscrowRecord>> {
  const address = contracts.escrow.address
  const logs = await sandbox.provider.getLogs({ address, fromBlock: 0, toBlock: 'latest' })
  const records = new Map<Hex, OpenRecord>()
  for (const log of logs) {
    const parsed = escrow.parseLog(log)
    const event = argumentsSchema.safeParse({ name: parsed?.name, ...parsed?.args.toObject() })
    if (!event.success) continue
    const { orderId, amount } = event.data
    const { symbol, shares } = await contracts.escrow.orders(orderId)
    const name = bytes32ToName(symbol)
    const deposit = name === null ? null : { symbol: name, shares }
    const record = records.get(orderId) ?? { amount: 0n, deposit, opens: 0, ends: [] }
    records.set(orderId, record)
    if (event.data.name === 'OrderOpened') {
      record.amount = amount
      record.opens++
    }
    if (event.data.name === 'OrderSettled') {
      const asset = bytes32ToName(event.data.payoutAsset)
      const payoutSymbol = asset === USDC ? null : asset
      record.ends.push({ state: 'SETTLED', amount, payout: event.data.payout, payoutSymbol })
    }
    if (event.data.name === 'OrderRefunded') {
      record.ends.push({ state: 'REFUNDED', amount, payout: 0n, payoutSymbol: null })
    }
  }
  return records
}
