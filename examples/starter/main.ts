import * as trading from 'confidential-trading-client'

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
let client: trading.Client | undefined

function show(text: string): void {
  if (status) status.textContent = text
}

async function buy(symbol: string, amount: string): Promise<void> {
  client ??= trading.createClient({ serverUrl, wallet: window.ethereum, pins })
  const { screen, waitingFor } = await client.getWallet(await client.getAccount())
  if (screen !== 'trade') return show(`This wallet cannot trade yet: ${screen} ${waitingFor.join(', ')}`)
  const usdc = trading.parseDecimal(amount, trading.USDC_DECIMALS)
  // Until the order has ended: a server that lost it takes it again by `submitOrder`.
  const beforeOpen = ({ orderId, envelope, commit }: trading.SealedOrder) =>
    localStorage.setItem(orderId, JSON.stringify({ orderId, envelope, commit }))
  const request = { side: 'BUY', symbol, usdc } as const
  const { order } = await client.placeOrder(request, { beforeOpen, onStep: show })
  for await (const { state } of client.listOrderStatuses(order.orderId)) show(state)
  localStorage.removeItem(order.orderId)
  const held = Object.entries((await client.getPortfolio())?.portfolio.positions ?? {})
  const lines = held.map(([name, { qty }]) => `${name} ${trading.formatDecimal(qty, trading.SHARE_DECIMALS)}`)
  if (holdings) holdings.textContent = lines.join('\n')
}

form?.addEventListener('submit', (event) => {
  event.preventDefault()
  const [symbol = '', amount = ''] = [...form.querySelectorAll('input')].map(({ value }) => value)
  buy(symbol, amount).catch((error: unknown) => show(trading.toTradingError(error).message))
})
