// The enclave's node sees whose order is run, and must not see what the order is.
import { Interface, isHexString } from 'ethers'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { INTERFACES } from '../support/chain.js'
import { tappedRpc } from '../support/tappedRpc.js'
import type { Wish } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()

/** One call as a node receives it. */
interface SeenCall {
  readonly method: string
  readonly params: readonly unknown[]
}

const callParams = z.tuple([z.object({ to: z.string(), data: z.string() })], z.unknown())
const escrow = new Interface(orderEscrowAbi)
/** Their argument is an order's own, or an authorization's: every order has others, and there is no more to be read in them. */
const OWN_ARGUMENT = new Set(['orders', 'usedDigest'].map((view) => escrow.getFunction(view)?.selector))

/** The different calls among these, without blocks and without what every order has of its own, in one order. */
function kindsOfCalls(calls: readonly SeenCall[]): string[] {
  return [...new Set(calls.map(kindOf))].sort()
}

function kindOf({ method, params }: SeenCall): string {
  if (method !== 'eth_call')
    return `${method} ${JSON.stringify(params.filter((param) => !isHexString(param)))}`
  const [{ to, data }] = callParams.parse(params)
  const selector = data.slice(0, 10)
  return `${to} ${OWN_ARGUMENT.has(selector) ? selector : data}`
}

const fromCash: Wish = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(20) }
const withdrawal = (symbol: string, amount: bigint): Wish => ({
  who: 'alice',
  side: 'WITHDRAW',
  symbol,
  amount,
})

/** The world's nodes, and the calls that reach them. */
function tapped() {
  const calls: SeenCall[] = []
  const rpc = tappedRpc(world().deps().rpc, (sent, send) => {
    calls.push(...sent)
    return send()
  })
  return { calls, rpc }
}

/** Runs an order; what its run asked the node for. */
async function traffic(wish: Wish, outcome: 'settled' | 'refunded'): Promise<string[]> {
  const { calls, rpc } = tapped()
  const order = await world().open(wish)
  expect(await world().run(order, { deps: { rpc } })).toMatchObject({ outcome })
  return kindsOfCalls(calls)
}

async function hold(): Promise<void> {
  await world().settled(buy(1_000))
  await world().settled({ ...buy(1_000), symbol: 'MSFT' })
  await world().settled(sell(300))
}

it('a trade shows neither its symbol nor its side', async () => {
  await hold()
  const expected = await traffic(sell(20), 'settled')
  expect(expected.length).toBeGreaterThan(8)
  expect(await traffic({ ...sell(20), symbol: 'MSFT' }, 'settled')).toEqual(expected)
  expect(await traffic(fromCash, 'settled')).toEqual(expected)
  expect(await traffic({ ...fromCash, symbol: 'MSFT' }, 'settled')).toEqual(expected)
})

it('a refused order shows neither what it was, nor why it was refused', async () => {
  await hold()
  const expected = await traffic({ ...sell(20), symbol: 'TSLA' }, 'refunded')
  const others: Wish[] = [
    { ...sell(20), change: { nonce: 0 } },
    { ...fromCash, amount: usd(900_000) },
    { ...fromCash, symbol: 'NONE' },
    withdrawal('USDC', usd(900_000)),
    withdrawal('AAPL', shares(900)),
  ]
  for (const wish of others)
    expect(await traffic(wish, 'refunded'), JSON.stringify(wish.symbol)).toEqual(expected)
})

it('a reconciliation asks for the accounts of all fills at once, sorted, and not by symbol', async () => {
  const trades = [buy(100), { ...buy(100), symbol: 'MSFT' }, { ...buy(100), who: 'bob' as const }]
  for (const trade of [...trades, ...trades]) await world().settled(trade)
  const { calls, rpc } = tapped()
  const batching = { accounts: 9, maxDelayMs: 86_400_000 }
  expect(await world().reconcile({ deps: { rpc, batching } })).toEqual({ outcome: 'done' })
  const selector = INTERFACES.escrow.getFunction('takenBy')?.selector ?? ''
  const asked = calls.map((call) => JSON.stringify(call.params).split(selector)[1])
  const [first, last] = [
    asked.findIndex((data) => data !== undefined),
    asked.findLastIndex((data) => data !== undefined),
  ]
  const prefixes = asked.slice(first, last + 1)
  expect(prefixes).toHaveLength(6)
  expect(prefixes).toEqual(prefixes.toSorted())
})
