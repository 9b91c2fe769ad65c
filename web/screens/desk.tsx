import { LeavingNote } from '../membership/leaving.js'
import { StandingNote } from '../membership/standingNote.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { useAccount } from '../state/context.js'
import { ClaimsCard } from '../trade/claimsCard.js'
import { FoundScreen } from './found.js'
import { TradeScreen } from './trade.js'
import { WaitScreen } from './wait.js'

/** The server decides which screen the wallet sees. */
export function DeskScreen() {
  const { value, error } = useAccount().view
  if (value?.screen === 'trade') {
    return (
      <>
        <LeavingNote leavingAt={value.leavingAt} />
        <StandingNote />
        <ClaimsCard />
        <TradeScreen />
      </>
    )
  }
  return (
    <>
      <ClaimsCard />
      <PolledFailure error={error} />
      {value === null && error === null ? <p class="muted">Loading…</p> : null}
      {value?.screen === 'found' ? <FoundScreen view={value} /> : null}
      {value?.screen === 'wait' ? <StandingNote /> : null}
      {value?.screen === 'wait' ? <WaitScreen view={value} /> : null}
    </>
  )
}
