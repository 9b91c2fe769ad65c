// The browser's wallets, discovered by EIP-6963, or as `window.ethereum` (EIP-1193) if none announces itself.
import * as z from 'zod/mini'
import type { Eip1193Provider } from '../../src/client/index.js'

/** A wallet that may be connected. */
export interface FoundWallet {
  /** Stable from one visit to the next. */
  readonly id: string
  readonly name: string
  /** An image as a `data:` URL; null if there is none. */
  readonly icon: string | null
  /** Its role in the sandbox; null for a browser wallet. */
  readonly demo: string | null
  readonly provider: Eip1193Provider
}

const providerSchema = z.custom<Eip1193Provider>(
  (value) => z.looseObject({ request: z.instanceof(Function) }).safeParse(value).success,
)
const announcementSchema = z.object({
  info: z.object({
    uuid: z.string(),
    name: z.string().check(z.maxLength(100)),
    icon: z.string(),
    rdns: z.string(),
  }),
  provider: providerSchema,
})
const windowSchema = z.object({ ethereum: providerSchema })

/** Reports each announced wallet once. Returns a function that stops the discovery. */
export function discoverWallets(found: (wallet: FoundWallet) => void): () => void {
  const seen = new Set<string>()
  const listen = (event: Event) => {
    const announcement = announcementSchema.safeParse('detail' in event ? event.detail : undefined)
    if (!announcement.success) return
    const { info, provider } = announcement.data
    if (seen.has(info.uuid)) return
    seen.add(info.uuid)
    const icon = info.icon.startsWith('data:image/') ? info.icon : null
    found({ id: info.rdns, name: info.name, icon, demo: null, provider })
  }
  window.addEventListener('eip6963:announceProvider', listen)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => window.removeEventListener('eip6963:announceProvider', listen)
}

/** The injected provider of a browser whose wallets do not announce themselves. */
export function injectedProvider(): Eip1193Provider | null {
  const page = windowSchema.safeParse(window)
  return page.success ? page.data.ethereum : null
}

/** The wallet of an injected provider. */
export function injectedWallet(provider: Eip1193Provider): FoundWallet {
  return { id: 'window.ethereum', name: 'Browser wallet', icon: null, demo: null, provider }
}
