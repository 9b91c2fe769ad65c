import type { Hex, WalletView } from '../../src/client/index.js'
import { Founding } from '../membership/founding.js'
import { Invitation } from '../membership/invitation.js'
import { LeavingNote } from '../membership/leaving.js'
import { OwnAddress } from '../parts/copyAddress.js'
import { PolledFailure } from '../parts/failureBox.js'
import { isKeyMissing } from '../state/account.js'
import { useAccount } from '../state/context.js'
import { ClaimsCard } from '../trade/claimsCard.js'
import { KeyCard } from '../trade/keyCard.js'
import { TradeScreen } from './trade.js'
import { WaitScreen } from './wait.js'

/** The server decides which screen the wallet sees. */
export function DeskScreen() {
  const { session, key, isFileNeeded, view, movesHere, orders } = useAccount()
  const { value, error } = view
  const hasTraded = orders.listed.value.length > 0
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
      {/* No other list of these screens would say that a portfolio on its way here may be missed. */}
      <PolledFailure error={error ?? movesHere.error} />
      {value === null && error === null ? <p class="muted">Loading…</p> : null}
      {value !== null && hasTraded ? <FormerTrader orgId={value.orgId} /> : null}
      {value?.screen === 'found' ? <FoundScreen view={value} /> : null}
      {value?.screen === 'wait' ? <StandingNote /> : null}
      {value?.screen === 'wait' ? <WaitScreen view={value} /> : null}
      {/* A portfolio may be on its way to a wallet that trades nothing yet. */}
      {!hasTraded && (isFileNeeded.value || isKeyMissing(session.address, key.value)) ? <KeyCard /> : null}
    </>
  )
}

/** For a wallet without an institution: it may found one, or accept an invitation. */
function FoundScreen({ view }: { view: WalletView }) {
  const { address } = useAccount().session
  return (
    <div class="narrow">
      <h1>Join or create an institution</h1>
      <p class="lead">
        You trade as a member of an institution, and its admin sets the rules. This wallet has no institution
        yet.
      </p>
      {view.invitation === null ? null : <Invitation invitation={view.invitation} />}
      <OwnAddress address={address} use="To be invited, give the admin of an institution your address." />
      <Founding title="Create an institution" />
    </div>
  )
}

/** A wallet that has orders and may trade no more, such as a member that was removed, reaches what it owns. */
function FormerTrader({ orgId }: { orgId: Hex | null }) {
  return (
    <>
      <p class="box box-warn" role="status" data-test="former">
        {orgId === null
          ? 'This wallet is in no institution any more: sell, withdraw or cancel below, and ask an admin to invite it before you buy again.'
          : 'This wallet may not buy at present: sell, withdraw or cancel below, and see further down what it waits for.'}
      </p>
      <TradeScreen />
    </>
  )
}

/** Warns before an order that the rulebook in force predates the wallet's membership. */
function StandingNote() {
  const { value } = useAccount().standing
  if (value === 'outsider') {
    return (
      <p class="box box-warn" role="status" data-test="not-covered">
        <strong>This wallet is not covered by the rulebook in force.</strong> The rulebook was published
        before this wallet was invited, and a rulebook names its members. The enclave refuses orders of a
        wallet that it does not name, and returns the money. Ask your admin to publish a new rulebook.
      </p>
    )
  }
  if (value === 'invited') {
    return (
      <p class="box box-warn" role="status" data-test="not-covered">
        <strong>This wallet may not be covered by the rulebook in force.</strong> The rulebook was published
        before this wallet joined. Only its admin knows whether it names this wallet already. If it does not,
        the enclave refuses its orders and returns the money.
      </p>
    )
  }
  return null
}
