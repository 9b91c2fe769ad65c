import type { Page } from 'playwright-core'

interface ExtensionOptions {
  readonly name: string
  readonly address: string
  readonly rpcUrl: string
  /** Methods that the person says no to, until the page's `extension.agree()`. */
  readonly refuses: readonly string[]
  /** The chain on which it begins; it changes when it is asked to. */
  readonly chainId: number
}

/** Puts a wallet as an extension would be into every page: announced by EIP-6963, asking the local chain. */
export async function installExtension(page: Page, options: ExtensionOptions): Promise<void> {
  await page.addInitScript((given: ExtensionOptions) => {
    let { chainId, refuses } = given
    const listeners = new Map<string, Set<() => void>>()
    const provider = {
      async request({ method, params = [] }: { method: string; params?: readonly { chainId: string }[] }) {
        if (refuses.includes(method))
          throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
        if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [given.address]
        if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
        if (method === 'wallet_switchEthereumChain') {
          chainId = Number(params[0]?.chainId)
          for (const listener of listeners.get('chainChanged') ?? []) listener()
          return null
        }
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
        const headers = { 'content-type': 'application/json' }
        const answer = await (await fetch(given.rpcUrl, { method: 'POST', headers, body })).json()
        if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error)
        return answer.result
      },
      on(event: string, listener: () => void) {
        listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
      },
      removeListener(event: string, listener: () => void) {
        listeners.get(event)?.delete(listener)
      },
    }
    const info = { uuid: 'a-wallet', name: given.name, icon: 'data:image/svg+xml,', rdns: 'example.wallet' }
    const announce = () =>
      window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
      )
    window.addEventListener('eip6963:requestProvider', announce)
    window.addEventListener('extension:agree', () => {
      refuses = []
    })
    announce()
  }, options)
}

/** From now on the person agrees to everything. */
export async function agree(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event('extension:agree')))
}
