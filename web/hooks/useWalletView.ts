import { useCallback } from 'preact/hooks'
import type { Views, WalletView } from '../../src/client/index.js'
import type { Session } from '../wallet/session.js'
import { walletPace } from './pace.js'
import { type Polled, usePolled } from './usePolled.js'

/** What the wallet should see, as the server says; null without a wallet. */
export function useWalletView(views: Views, session: Session | null): Polled<WalletView | null> {
  const address = session?.address ?? null
  const ask = useCallback(
    async (signal: AbortSignal) => (address === null ? null : views.wallet(address, signal)),
    [views, address],
  )
  return usePolled<WalletView | null>(ask, walletPace)
}
