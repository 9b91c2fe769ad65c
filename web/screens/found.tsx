import type { WalletView } from '../../src/client/index.js'
import { Founding } from '../membership/founding.js'
import { Invitation } from '../membership/invitation.js'
import { OwnAddress } from '../parts/ownAddress.js'
import { useAccount } from '../state/context.js'

/** For a wallet without an institution: it may found one, or accept an invitation. */
export function FoundScreen({ view }: { view: WalletView }) {
  const { address } = useAccount().session
  return (
    <div class="narrow">
      <h1>Start with an institution</h1>
      <p class="lead">
        A wallet trades as a member of an institution, whose admin writes the rules. This wallet has none yet.
      </p>
      {view.invitation === null ? null : <Invitation invitation={view.invitation} />}
      <OwnAddress address={address} use="To be invited, give the admin of an institution your address." />
      <Founding title="Found one" />
    </div>
  )
}
