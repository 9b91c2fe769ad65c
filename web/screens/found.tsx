import type { WalletView } from '../../src/client/index.js'
import { Founding } from '../membership/founding.js'
import { Invitation } from '../membership/invitation.js'
import { OwnAddress } from '../parts/ownAddress.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

interface FoundProps {
  readonly session: Session
  readonly settings: Settings
  readonly view: WalletView
  readonly onDone: () => void
}

/** For a wallet in no institution: it may found one, or join the one that invited it. */
export function FoundScreen({ session, settings, view, onDone }: FoundProps) {
  return (
    <div class="narrow">
      <h1>Begin with an institution</h1>
      <p class="lead">
        A wallet trades as a member of an institution, whose admin writes the rules. This one belongs to none
        yet.
      </p>
      {view.invitation === null ? null : (
        <Invitation session={session} settings={settings} invitation={view.invitation} onDone={onDone} />
      )}
      <OwnAddress
        address={session.address}
        use="To be invited, give the admin of an institution your address."
      />
      <Founding title="Found one" session={session} onDone={onDone} />
    </div>
  )
}
