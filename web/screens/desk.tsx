import { useCallback } from 'preact/hooks'
import type { MarketClock, Views } from '../../src/client/index.js'
import { usePolled } from '../hooks/usePolled.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { isAsleep } from '../words/failures.js'
import { FoundScreen } from './found.js'
import { TradeScreen } from './trade.js'
import { WaitScreen } from './wait.js'

interface DeskProps {
  readonly session: Session
  readonly views: Views
  readonly settings: Settings
  readonly clock: MarketClock | null
}

const LOOK_MS = 3_000

/** What the wallet should see is for the server to say. */
export function DeskScreen({ session, views, settings, clock }: DeskProps) {
  const ask = useCallback((signal: AbortSignal) => views.wallet(session.address, signal), [views, session])
  const { value: view, error, refresh } = usePolled(ask, LOOK_MS)
  if (view === null) {
    // The whole page says it when the server is asleep.
    return error === null || isAsleep(error) ? (
      <p class="muted">Asking the server…</p>
    ) : (
      <FailureBox error={error} />
    )
  }
  if (view.screen === 'found') return <FoundScreen session={session} view={view} onDone={refresh} />
  if (view.screen === 'wait') return <WaitScreen view={view} />
  return <TradeScreen session={session} views={views} settings={settings} clock={clock} />
}
