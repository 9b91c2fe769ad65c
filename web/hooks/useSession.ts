import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Settings } from '../settings.js'
import { demoWallet } from '../wallet/demo.js'
import { discoverWallets, type FoundWallet, injectedWallet } from '../wallet/discovery.js'
import { openSession, type Session, watchWallet } from '../wallet/session.js'

export interface Sessions {
  readonly wallets: readonly FoundWallet[]
  readonly session: Session | null
  /** The wallet that is being asked. */
  readonly connecting: FoundWallet | null
  readonly error: unknown
  readonly connect: (wallet: FoundWallet) => void
  readonly disconnect: () => void
}

const LAST_WALLET = 'desk:wallet'

/** The wallets there are, and the one that is connected. After a reload the same one is asked again. */
export function useSession(settings: Settings): Sessions {
  const wallets = useWallets(settings)
  const [session, setSession] = useState<Session | null>(null)
  const [connecting, setConnecting] = useState<FoundWallet | null>(null)
  const [error, setError] = useState<unknown>(null)
  const resumed = useRef(false)

  const connect = useCallback(
    async (wallet: FoundWallet) => {
      setConnecting(wallet)
      setError(null)
      try {
        setSession(await openSession(wallet, settings))
        sessionStorage.setItem(LAST_WALLET, wallet.id)
      } catch (failure) {
        setSession(null)
        setError(failure)
      }
      setConnecting(null)
    },
    [settings],
  )
  const disconnect = useCallback(() => {
    sessionStorage.removeItem(LAST_WALLET)
    setSession(null)
  }, [])

  useEffect(() => {
    const last = wallets.find(({ id }) => id === sessionStorage.getItem(LAST_WALLET))
    if (resumed.current || last === undefined) return
    resumed.current = true
    connect(last)
  }, [wallets, connect])

  useEffect(() => {
    if (session === null) return
    const unwatch = watchWallet(session.wallet, () => connect(session.wallet))
    return () => {
      unwatch()
      session.close()
    }
  }, [session, connect])

  return { wallets, session, connecting, error, connect, disconnect }
}

function useWallets({ demoWallets, chain }: Settings): readonly FoundWallet[] {
  const [announced, setAnnounced] = useState<readonly FoundWallet[]>([])
  const [others, setOthers] = useState<readonly FoundWallet[]>([])
  useEffect(() => {
    const { rpcUrl } = chain
    setOthers(rpcUrl === null ? [] : demoWallets.map((demo) => demoWallet(demo, rpcUrl)))
    return discoverWallets((wallet) => setAnnounced((known) => [...known, wallet]))
  }, [demoWallets, chain])
  const injected = announced.length === 0 ? injectedWallet() : null
  return [...announced, ...(injected ? [injected] : []), ...others]
}
