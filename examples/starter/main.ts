import * as trading from 'confidential-trading-client'
import { createIndexedDbOrderStore } from 'confidential-trading-client/store'

declare global {
  interface ImportMeta {
    /** Vite fills these in from the environment. Both pins come from a source other than the server. */
    readonly env: Readonly<Record<'VITE_SERVER_URL' | 'VITE_ENCLAVE_KEY' | 'VITE_ESCROW', trading.Hex>>
  }
  interface Window {
    /** The browser's wallet. Where there is none, `createClient` fails with `no-provider`. */
    readonly ethereum: trading.Eip1193Provider
  }
}

const { VITE_SERVER_URL: serverUrl, VITE_ENCLAVE_KEY, VITE_ESCROW } = import.meta.env
const pins = { enclavePublicKey: VITE_ENCLAVE_KEY, escrow: VITE_ESCROW }
const [form, status, holdings] = ['form', 'p', 'pre'].map((name) => document.querySelector(name))
const orderStore = createIndexedDbOrderStore()
let client: trading.Client | undefined

function show(text: string): void {
  if (status) status.textContent = text
}

const connect = () =>
  (client ??= trading.createClient({ serverUrl, wallet: window.ethereum, pins, orderStore }))
const fail = (error: unknown) => show(trading.toTradingError(error).message)

/** An earlier tab may have been closed in the middle of an order. */
async function takeUp(client = connect()): Promise<void> {
  for (const { orderId } of await client.getKeptOrders()) show(await client.resumeOrder(orderId))
}

async function buy(symbol: string, amount: string, client = connect()): Promise<void> {
  const { screen, waitingFor } = await client.getWallet(await client.getAccount())
  if (screen !== 'trade') return show(`This wallet cannot trade yet: ${screen} ${waitingFor.join(', ')}`)
  const request = { side: 'BUY', symbol, usdc: trading.parseDecimal(amount, trading.USDC_DECIMALS) } as const
  const { order } = await client.placeOrder(request, { onStep: show })
  for await (const { state } of client.listOrderStatuses(order.orderId)) show(state)
  const held = Object.entries((await client.getPortfolio())?.portfolio.positions ?? {})
  const lines = held.map(([name, { qty }]) => `${name} ${trading.formatDecimal(qty, trading.SHARE_DECIMALS)}`)
  if (holdings) holdings.textContent = lines.join('\n')
}

form?.addEventListener('submit', (event) => {
  event.preventDefault()
  const [symbol = '', amount = ''] = [...form.querySelectorAll('input')].map(({ value }) => value)
  buy(symbol, amount).catch(fail)
})
takeUp().catch(fail)
