import { JsonRpcProvider, type Provider } from 'ethers'
import { useEffect, useState } from 'preact/hooks'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

/** What reads the chain: the page's own node where it has one, else the wallet's. */
export function useReader({ chain }: Settings, session: Session | null): Provider | null {
  const [own, setOwn] = useState<Provider | null>(null)
  useEffect(() => {
    if (chain.rpcUrl === null) return
    const provider = new JsonRpcProvider(chain.rpcUrl, chain.id, { staticNetwork: true, cacheTimeout: -1 })
    setOwn(provider)
    return () => provider.destroy()
  }, [chain])
  return own ?? (session?.chainId === chain.id ? session.provider : null)
}
