import type { WalletView } from '../../src/client/index.js'
import { Founding } from '../membership/founding.js'
import { Invitation } from '../membership/invitation.js'
import { OwnAddress } from '../parts/copyAddress.js'
import { useAccount } from '../state/context.js'

/** For a wallet without an institution: it may found one, or accept an invitation. */
export function FoundScreen({ view }: { view: WalletView }) {
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
