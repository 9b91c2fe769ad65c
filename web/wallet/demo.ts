import type { DemoWallet } from '../settings.js'
import type { FoundWallet } from './discovery.js'
import { nodeProvider } from './node.js'

const ACCOUNT_METHODS = new Set(['eth_requestAccounts', 'eth_accounts'])

/** One of a local chain's accounts as a wallet: the chain itself signs, without asking. */
export function demoWallet({ name, part, address }: DemoWallet, rpcUrl: string): FoundWallet {
  const node = nodeProvider(rpcUrl)
  return {
    ...{ id: `demo:${address}`, name, icon: null, demo: part },
    provider: {
      request: async (asked) => (ACCOUNT_METHODS.has(asked.method) ? [address] : node.request(asked)),
    },
  }
}
