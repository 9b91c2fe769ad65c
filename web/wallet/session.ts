import { BrowserProvider, type Eip1193Provider, JsonRpcSigner, type Provider, type Signer } from 'ethers'
import * as z from 'zod'
import { type Client, createClient, type Hex } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import type { Settings } from '../settings.js'
import type { FoundWallet } from './discovery.js'

/** A connected wallet. */
export interface Session {
  readonly wallet: FoundWallet
  readonly address: Hex
  readonly chainId: number
  readonly client: Client
  readonly signer: Signer
  readonly provider: Provider
  close(): void
}

const POLLING_MS = 1_000

const accountsSchema = z.array(addressSchema)

/** Asks the user for the wallet's account; rethrows the wallet's error if the user refuses. */
export async function openSession(wallet: FoundWallet, settings: Settings): Promise<Session | null> {
  await wallet.provider.request({ method: 'eth_requestAccounts' })
  return resumeSession(wallet, settings)
}

/** Opens the account that the wallet already reveals to this page, without a prompt; null if it reveals none. */
export async function resumeSession(wallet: FoundWallet, settings: Settings): Promise<Session | null> {
  const [address] = accountsSchema.parse(await wallet.provider.request({ method: 'eth_accounts' }))
  if (address === undefined) return null
  // The wallet's chain may change at any time, so the provider queries it on each use.
  const provider = new BrowserProvider(wallet.provider, 'any')
  provider.pollingInterval = POLLING_MS
  // Constructs the signer directly: getSigner() prompts the user if the wallet reveals no account.
  const signer = new JsonRpcSigner(provider, address)
  const { chainId } = await provider.getNetwork()
  return {
    wallet,
    address,
    chainId: Number(chainId),
    client: createClient({ serverUrl: settings.serverUrl, wallet: signer, pins: settings.pins }),
    signer,
    provider,
    close: () => provider.destroy(),
  }
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
