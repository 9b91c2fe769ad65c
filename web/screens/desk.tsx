import type { MarketClock, Views, WalletView } from '../../src/client/index.js'
import type { OrderHistory } from '../chain/orderHistory.js'
import type { Ask } from '../chain/remembered.js'
import type { Standing } from '../chain/standing.js'
import type { Charts } from '../hooks/useCharts.js'
import type { Memory } from '../hooks/useMemory.js'
import type { Polled } from '../hooks/usePolled.js'
import { LeavingNote } from '../membership/leaving.js'
import { StandingNote } from '../membership/standingNote.js'
import { PolledFailure } from '../parts/polledFailure.js'
import type { Settings } from '../settings.js'
import { ClaimsCard } from '../trade/claimsCard.js'
import type { Session } from '../wallet/session.js'
import { FoundScreen } from './found.js'
import { TradeScreen } from './trade.js'
import { WaitScreen } from './wait.js'

interface DeskProps {
  readonly session: Session
  readonly settings: Settings
  readonly view: Polled<WalletView | null>
  readonly views: Views
  readonly readOrders: Ask<OrderHistory>
  readonly readStanding: Ask<Standing | null> | null
  readonly clock: MarketClock | null
  readonly charts: Charts
  readonly memory: Memory
}

/** What the wallet should see is for the server to say. */
export function DeskScreen({ session, settings, view, views, readStanding, ...shared }: DeskProps) {
  const { value, error, refresh } = view
  if (value?.screen === 'trade') {
    return (
      <>
        <LeavingNote leavingAt={value.leavingAt} />
        <StandingNote readStanding={readStanding} />
        <ClaimsCard client={session.client} />
        <TradeScreen session={session} views={views} {...shared} />
      </>
    )
  }
  return (
    <>
      <ClaimsCard client={session.client} />
      <PolledFailure error={error} />
      {value === null && error === null ? <p class="muted">Asking the server…</p> : null}
      {value?.screen === 'found' ? (
        <FoundScreen session={session} settings={settings} view={value} onDone={refresh} />
      ) : null}
      {value?.screen === 'wait' ? <StandingNote readStanding={readStanding} /> : null}
      {value?.screen === 'wait' ? (
        <WaitScreen session={session} settings={settings} view={value} onDone={refresh} />
      ) : null}
    </>
  )
}
