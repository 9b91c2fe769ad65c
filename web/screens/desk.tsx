import type { MarketClock, Views, WalletView } from '../../src/client/index.js'
import type { Polled } from '../hooks/usePolled.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { isAsleep } from '../words/failures.js'
import { FoundScreen } from './found.js'
import { TradeScreen } from './trade.js'
import { WaitScreen } from './wait.js'

interface DeskProps {
  readonly session: Session
  readonly view: Polled<WalletView | null>
  readonly views: Views
  readonly settings: Settings
  readonly clock: MarketClock | null
}

/** What the wallet should see is for the server to say. */
export function DeskScreen({ session, view, views, settings, clock }: DeskProps) {
  const { value, error, refresh } = view
  if (value === null) {
    // The whole page says it when the server is asleep.
    return error === null || isAsleep(error) ? (
      <p class="muted">Asking the server…</p>
    ) : (
      <FailureBox error={error} />
    )
  }
  if (value.screen === 'found') return <FoundScreen session={session} view={value} onDone={refresh} />
  if (value.screen === 'wait') return <WaitScreen view={value} />
  return <TradeScreen session={session} views={views} settings={settings} clock={clock} />
}
