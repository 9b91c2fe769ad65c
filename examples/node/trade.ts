// Buys with a wallet, waits for the end of the order, and prints the portfolio.
import * as trading from 'confidential-trading-client'
import { createFileOrderStore } from 'confidential-trading-client/store'

/** A setting that begins with 0x. */
export function hex(name: string): trading.Hex {
  const value = process.env[name] ?? ''
  if (!value.startsWith('0x')) throw new Error(`${name} is not set`)
  return `0x${value.slice(2)}`
}

export async function buy(wallet: trading.WalletSource, symbol: string, usdc: string): Promise<void> {
  // Both pins come from a source other than the server. A sandbox alone may answer for its own.
  const pins = { enclavePublicKey: hex('ENCLAVE_KEY'), escrow: hex('ESCROW') }
  const orderStore = createFileOrderStore('orders')
  const client = trading.createClient({ serverUrl: process.env.SERVER_URL ?? '', wallet, pins, orderStore })
  // An earlier run may have been ended in the middle of an order.
  for (const { orderId } of await client.getKeptOrders()) console.log(await client.resumeOrder(orderId))
  const { screen, waitingFor } = await client.getWallet(await client.getAccount())
  if (screen !== 'trade') throw new Error(`this wallet cannot trade yet: ${screen} ${waitingFor.join(', ')}`)

  const amount = trading.parseDecimal(usdc, trading.USDC_DECIMALS)
  const request = { side: 'BUY', symbol, usdc: amount, validFor: '1h' } as const
  const { order } = await client.placeOrder(request, { onStep: (step) => console.log(step) })
  for await (const { state } of client.listOrderStatuses(order.orderId)) console.log(state)

  const opened = await client.getPortfolio()
  for (const [name, { qty }] of Object.entries(opened?.portfolio.positions ?? {})) {
    console.log(name, trading.formatDecimal(qty, trading.SHARE_DECIMALS))
  }
}
