import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Settings } from '../settings.js'
import { demoWallet } from '../wallet/demo.js'
import { discoverWallets, type FoundWallet, injectedProvider, injectedWallet } from '../wallet/discovery.js'
import { isSameSession, openSession, resumeSession, type Session, watchWallet } from '../wallet/session.js'

export interface Sessions {
  readonly wallets: readonly FoundWallet[]
  readonly session: Session | null
  /** The wallet that is being asked. */
  readonly connecting: FoundWallet | null
  readonly error: unknown
  readonly connect: (wallet: FoundWallet) => void
  /** Waits for that wallet no more. What it answers then counts for nothing. */
  readonly cancel: () => void
  readonly disconnect: () => void
}

const LAST_WALLET = 'desk:wallet'

/**
 * The wallets there are, and the one that is connected. After a reload, and when the wallet changes, its person is not
 * asked again: what the wallet does not show by itself is disconnected.
 */
export function useSession(settings: Settings): Sessions {
  const wallets = useWallets(settings)
  const [session, setSession] = useState<Session | null>(null)
  const [connecting, setConnecting] = useState<FoundWallet | null>(null)
  const [error, setError] = useState<unknown>(null)
  const resumed = useRef(false)
  const { turn, isLatest } = useTurns()

  const cancel = useCallback(() => {
    turn()
    setConnecting(null)
  }, [turn])
  const disconnect = useCallback(() => {
    cancel()
    sessionStorage.removeItem(LAST_WALLET)
    setSession(null)
  }, [cancel])
  const enter = useCallback(
    async (wallet: FoundWallet, open: typeof openSession) => {
      const mine = turn()
      setError(null)
      try {
        const opened = await open(wallet, settings)
        if (!isLatest(mine)) return opened?.close()
        if (opened === null) return disconnect()
        setConnecting(null)
        sessionStorage.setItem(LAST_WALLET, wallet.id)
        setSession((before) => replaced(before, opened))
      } catch (failure) {
        if (!isLatest(mine)) return
        setConnecting(null)
        setSession(null)
        setError(failure)
      }
    },
    [settings, turn, isLatest, disconnect],
  )
  const connect = useCallback(
    (wallet: FoundWallet) => {
      setConnecting(wallet)
      enter(wallet, openSession)
    },
    [enter],
  )

  useEffect(() => {
    const last = wallets.find(({ id }) => id === sessionStorage.getItem(LAST_WALLET))
    if (resumed.current || last === undefined) return
    resumed.current = true
    enter(last, resumeSession)
  }, [wallets, enter])

  useEffect(() => {
    if (session === null) return
    const unwatch = watchWallet(session.wallet, () => enter(session.wallet, resumeSession))
    return () => {
      unwatch()
      session.close()
    }
  }, [session, enter])

  return { wallets, session, connecting, error, connect, cancel, disconnect }
}

/** The former one where nothing has changed: it may have derived a key, which the wallet would have to sign for again. */
function replaced(before: Session | null, opened: Session): Session {
  if (before === null || !isSameSession(before, opened)) return opened
  opened.close()
  return before
}

/** Wallets answer in any order: the answer to what was asked last counts. */
function useTurns() {
  const latest = useRef(0)
  const turn = useCallback(() => {
    latest.current += 1
    return latest.current
  }, [])
  const isLatest = useCallback((mine: number) => mine === latest.current, [])
  return { turn, isLatest }
}

function useWallets({ demoWallets, chain }: Settings): readonly FoundWallet[] {
  const [announced, setAnnounced] = useState<readonly FoundWallet[]>([])
  const [others, setOthers] = useState<readonly FoundWallet[]>([])
  useEffect(() => {
    const { rpcUrl } = chain
    setOthers(rpcUrl === null ? [] : demoWallets.map((demo) => demoWallet(demo, rpcUrl)))
    return discoverWallets((wallet) => setAnnounced((known) => [...known, wallet]))
  }, [demoWallets, chain])
  // The same object from one render to the next: what is being asked is told by it. A provider may come late, or be replaced.
  const provider = injectedProvider()
  const injected = useMemo(() => (provider === null ? null : injectedWallet(provider)), [provider])
  return [...announced, ...(injected !== null && announced.length === 0 ? [injected] : []), ...others]
}
