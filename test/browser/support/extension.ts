import type { Page } from 'playwright-core'

export interface ExtensionOptions {
  readonly name: string
  readonly address: string
  readonly rpcUrl: string
  /** Methods that the person says no to, until `changeExtension` says otherwise. */
  readonly refuses: readonly string[]
  /** A method that it does not answer, until `changeExtension` says otherwise. */
  readonly silentOn?: string
  /** It is found at `window.ethereum`, and does not announce itself. */
  readonly isPlain?: boolean
  /** The chain on which it begins; it changes when it is asked to. */
  readonly chainId: number
}

/** Puts a wallet as an extension would be into every page: announced by EIP-6963, asking the local chain. */
export async function installExtension(page: Page, options: ExtensionOptions): Promise<void> {
  await page.addInitScript(extend, options)
}

/** Runs in a page, before all that is the page's own. */
export function extend(given: ExtensionOptions): void {
  let { chainId, refuses, silentOn } = given
  let accounts: readonly string[] = [given.address]
  const listeners = new Map<string, Set<() => void>>()
  const emit = (event: string) => {
    for (const listener of listeners.get(event) ?? []) listener()
  }
  const provider = {
    async request({ method, params = [] }: { method: string; params?: readonly { chainId: string }[] }) {
      performance.mark(`wallet:${method}`)
      if (method === silentOn) return new Promise(() => undefined)
      const signs: unknown = Reflect.get(window, 'signByExtension')
      if (method === 'personal_sign' && typeof signs === 'function') return signs(params[0])
      if (refuses.includes(method))
        throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
      if (method === 'eth_requestAccounts') accounts = [given.address]
      if (method === 'eth_requestAccounts' || method === 'eth_accounts') return accounts
      if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
      if (method === 'wallet_switchEthereumChain') {
        chainId = Number(params[0]?.chainId)
        emit('chainChanged')
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
  if (given.isPlain) Object.assign(window, { ethereum: provider })
  else window.addEventListener('eip6963:requestProvider', announce)
  window.addEventListener('extension:change', (event) => {
    const change: ExtensionChange = event instanceof CustomEvent ? event.detail : {}
    refuses = change.refuses ?? refuses
    if (change.silentOn !== undefined) silentOn = change.silentOn
    if (change.accounts === undefined) return
    accounts = change.accounts
    emit('accountsChanged')
  })
  if (!given.isPlain) announce()
}

/** A person's changes in a wallet. */
interface ExtensionChange {
  readonly refuses?: readonly string[]
  /** Empty: it answers all. */
  readonly silentOn?: string
  /** Accounts that the page may see. It gets an event, also when they are the same. */
  readonly accounts?: readonly string[]
}

export async function changeExtension(page: Page, change: ExtensionChange): Promise<void> {
  await page.evaluate(
    (detail) => window.dispatchEvent(new CustomEvent('extension:change', { detail })),
    change,
  )
}

/** How often the page has asked the wallet this since it was loaded. */
export async function askedOf(page: Page, method: string): Promise<number> {
  return page.evaluate((name) => performance.getEntriesByName(name).length, `wallet:${method}`)
}

/** Waits until the page has asked the wallet this so many times more. */
export async function waitForAsking(page: Page, method: string, more: number): Promise<void> {
  const least = more + (await askedOf(page, method))
  await page.waitForFunction(([name, count]) => performance.getEntriesByName(name).length >= count, [
    `wallet:${method}`,
    least,
  ] as const)
}
