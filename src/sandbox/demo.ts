import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { publishRulebook } from '../client/admin.js'
import { type Client, createClient, formatDecimal, type Policy, type Portfolio } from '../client/index.js'
import {
  formatUsdc,
  notionalOf,
  ONE_USDC,
  PRICE_DECIMALS,
  parseDecimal,
  SHARE_DECIMALS,
  toCents,
  USDC_DECIMALS,
} from '../protocol/units.js'
import type { SandboxAccount } from './accounts.js'
import type { Sandbox } from './sandbox.js'
import { type SandboxOptions, stepsTo } from './settings.js'

const SYMBOL = 'AAPL'
const AMOUNT = 1_000n * ONE_USDC

/** A client for one of the accounts. As in production, pins replace trust in the server. */
export function clientOf(
  { info, provider, secrets }: Pick<Sandbox, 'info' | 'provider' | 'secrets'>,
  account: SandboxAccount,
): Client {
  return createClient({
    serverUrl: info.url,
    wallet: new Wallet(account.privateKey, provider),
    pins: { enclavePublicKey: secrets.intentPublicKey, escrow: info.contracts.orderEscrow },
  })
}

/**
 * Publishes the institution's rulebook, places a sealed buy and follows it to its end, printing each step.
 * @throws Error if the portfolio differs from the broker's fill
 */
export async function runDemo(sandbox: Sandbox, print: SandboxOptions['print']): Promise<void> {
  const printStep = stepsTo(print)
  const { version, copy } = await publishDefaultRulebook(sandbox)
  printStep('rulebook', `sealed, published through POST /policy: version ${version}`)
  // The admin imports it on the page, to start from the rules in force.
  await writeFile(join(sandbox.directory, 'rulebook.json'), JSON.stringify(copy), { mode: 0o600 })

  const [employee] = sandbox.accounts.employees
  const client = clientOf(sandbox, employee)
  await client.unlock()
  printStep('employee', 'portfolio key derived from a wallet signature')
  const { order, received } = await client.placeOrder(
    { side: 'BUY', symbol: SYMBOL, usdc: AMOUNT, validFor: '1h' },
    { beforeOpen: () => printStep('order', `BUY ${SYMBOL} for ${formatUsdc(AMOUNT)}, signed and sealed`) },
  )
  printStep('order', `escrow opened; POST /orders: ${received.result}`)

  let state = 'unknown'
  const options = { signal: AbortSignal.timeout(60_000), pollMs: 250 }
  for await (const status of client.listOrderStatuses(order.orderId, options)) {
    state = status.state
    const run = status.triggers.at(-1)
    const enclave = run ? `, enclave run ${run.attempt}: ${run.outcome ?? 'under way'}` : ''
    printStep('status', `${state}${enclave}`)
  }
  if (state !== 'SETTLED') throw new Error(`the order ended as ${state}`)
  const opened = await client.getPortfolio()
  if (!opened) throw new Error('there is no portfolio on chain')
  printStep('portfolio', `read from the chain (version ${opened.version}) and decrypted by the employee:`)
  const { cash, positions, openOrders } = opened.portfolio
  printStep('', `cash   ${formatDecimal(cash, USDC_DECIMALS)} USDC`)
  for (const [symbol, { qty }] of Object.entries(positions))
    printStep('', `${symbol.padEnd(6)} ${formatDecimal(qty, SHARE_DECIMALS)}`)
  printStep('', `${Object.keys(openOrders).length} open orders`)
  verify(opened.portfolio, sandbox)
  printStep('done', 'the portfolio matches the fill at the broker exactly')
}

/** Publishes a rulebook that lets every employee trade every symbol up to the limit, and withdraw shares. */
export function publishDefaultRulebook(sandbox: Sandbox, change: Partial<Policy> = {}) {
  const rules = { canBuy: true, canSell: true, restricted: [] }
  const employees = Object.fromEntries(sandbox.accounts.employees.map(({ address }) => [address, rules]))
  const policy = { employees, maxOrderNotional: 25_000n * ONE_USDC, allowWithdrawShares: true, ...change }
  return publishRulebook(clientOf(sandbox, sandbox.accounts.admin), policy)
}

/** Compares the portfolio with the broker's record of the fill. */
function verify({ cash, positions, openOrders }: Portfolio, { broker }: Sandbox): void {
  const [fill, ...others] = broker.orders()
  if (!fill?.filled_avg_price || others.length > 0) throw new Error('expected exactly one fill at the broker')
  const qty = parseDecimal(fill.filled_qty, SHARE_DECIMALS)
  const value = notionalOf(qty, parseDecimal(fill.filled_avg_price, PRICE_DECIMALS), 'up')
  const right =
    positions[SYMBOL]?.qty === qty &&
    cash === AMOUNT - toCents(value, 'up') &&
    cash < ONE_USDC &&
    Object.keys(openOrders).length === 0
  if (!right) throw new Error('the decrypted portfolio differs from the fill at the broker')
}
