import {
  createClient,
  formatDecimal,
  parseDecimal,
  SHARE_DECIMALS,
  toTradingError,
  USDC_DECIMALS,
} from 'confidential-trading-client'
import type { Eip1193Provider } from 'ethers'

declare global {
  interface ImportMeta {
    /** Vite fills these in from the environment. Both pins come from a source other than the server. */
    readonly env: Readonly<Record<'VITE_SERVER_URL' | 'VITE_ENCLAVE_KEY' | 'VITE_ESCROW', `0x${string}`>>
  }
  interface Window {
    /** The browser's wallet. */
    readonly ethereum: Eip1193Provider
  }
}

const { VITE_SERVER_URL, VITE_ENCLAVE_KEY, VITE_ESCROW } = import.meta.env
const client = createClient({
  serverUrl: VITE_SERVER_URL,
  wallet: window.ethereum,
  pins: { enclavePublicKey: VITE_ENCLAVE_KEY, escrow: VITE_ESCROW },
})
const [form, status, list] = ['form', 'p', 'ul'].map((name) => document.querySelector(name))

function show(text: string): void {
  if (status) status.textContent = text
}

async function buy(symbol: string, amount: string): Promise<void> {
  const { screen, waitingFor } = await client.getWallet(await client.getAccount())
  if (screen !== 'trade') return show(`This wallet cannot trade yet: ${screen} ${waitingFor.join(', ')}`)
  const maxSpend = parseDecimal(amount, USDC_DECIMALS)
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  const beforeOpen = ({ orderId, envelope, commit }: { orderId: string; envelope: object; commit: string }) =>
    // Until the order has ended: a server that lost it takes it again by `submitOrder`.
    localStorage.setItem(orderId, JSON.stringify({ orderId, envelope, commit }))
  const { order } = await client.placeOrder(
    { side: 'BUY', symbol, maxSpend, deadline },
    { beforeOpen, onStep: show },
  )
  for await (const { state } of client.followOrder(order.orderId)) show(state)
  localStorage.removeItem(order.orderId)
  const positions = Object.entries((await client.getPortfolio())?.portfolio.positions ?? {})
  list?.replaceChildren(
    ...positions.map(([name, { qty }]) => `${name} ${formatDecimal(qty, SHARE_DECIMALS)}`),
  )
}

form?.addEventListener('submit', (event) => {
  event.preventDefault()
  const [symbol = '', amount = ''] = [...form.querySelectorAll('input')].map(({ value }) => value)
  buy(symbol, amount).catch((error: unknown) => show(toTradingError(error).message))
})
