import * as z from 'zod/mini'
import { type Client, createClient, type Eip1193Provider, type Hex } from '../../src/client/index.js'
import { createIndexedDbOrderStore } from '../../src/client/store/browser.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { FoundWallet } from './discovery.js'
import { trustOf } from './trust.js'

/** A connected wallet. */
export interface Session {
  readonly wallet: FoundWallet
  readonly address: Hex
  readonly chainId: number
  readonly client: Client
  readonly provider: Eip1193Provider
}

const accountsSchema = z.array(addressSchema)
const chainIdSchema = z.coerce.number().check(z.int())

/** Asks the user for the wallet's account; rethrows the wallet's error if the user refuses. */
export async function openSession(wallet: FoundWallet, settings: Settings): Promise<Session | null> {
  await wallet.provider.request({ method: 'eth_requestAccounts' })
  return resumeSession(wallet, settings)
}

/** Opens the account that the wallet already reveals to this page, without a prompt; null if it reveals none. */
export async function resumeSession(wallet: FoundWallet, settings: Settings): Promise<Session | null> {
  const [address] = accountsSchema.parse(await wallet.provider.request({ method: 'eth_accounts' }))
  if (address === undefined) return null
  const { provider } = wallet
  const chainId = chainIdSchema.parse(await provider.request({ method: 'eth_chainId' }))
  // Names the account: a client without it prompts the user when the wallet reveals none any more.
  const client = createClient({
    ...(await trustOf(settings)),
    serverUrl: settings.serverUrl,
    wallet: provider,
    account: address,
    orderStore: createIndexedDbOrderStore(),
  })
  return { wallet, address, chainId, client, provider }
}

/** Whether two sessions differ only in their opening time. */
export function isSameSession(a: Session, b: Session): boolean {
  return a.wallet === b.wallet && a.address === b.address && a.chainId === b.chainId
}

/** Calls `changed` when the wallet's account or chain changes. Returns a function that stops watching. */
export function watchWallet({ provider }: FoundWallet, changed: () => void): () => void {
  if (!isEmitter(provider)) return () => undefined
  const events = ['accountsChanged', 'chainChanged']
  for (const event of events) provider.on(event, changed)
  return () => {
    for (const event of events) provider.removeListener(event, changed)
  }
}

interface Emitter {
  on(event: string, listener: () => void): unknown
  removeListener(event: string, listener: () => void): unknown
}

function isEmitter(provider: Eip1193Provider): provider is Eip1193Provider & Emitter {
  return 'on' in provider && 'removeListener' in provider
}
