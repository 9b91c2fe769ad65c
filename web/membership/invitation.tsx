import type { WalletView } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { WalletName } from '../parts/walletName.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

interface InvitationProps {
  readonly session: Session
  readonly settings: Settings
  readonly invitation: NonNullable<WalletView['invitation']>
  readonly onDone: () => void
}

/** Who invites, by the one thing that cannot be made to look like another's: the admin's address. */
export function Invitation({ session, settings, invitation, onDone }: InvitationProps) {
  const { busy, error, run } = useAction()
  const { orgId, admin } = invitation
  const name = bytes32ToName(orgId) ?? orgId
  const join = () =>
    run(async () => {
      await session.client.membership.join(orgId)
      onDone()
    })
  return (
    <Card title="You are invited">
      <p>
        <b>{name}</b> invites this wallet. Its admin is <WalletName address={admin} settings={settings} />:
      </p>
      <p>
        <code class="whole" data-test="invited-by">
          {admin}
        </code>
      </p>
      <p class="muted">
        Names can look alike, addresses cannot. Compare this one with the address that your employer gave you.
        A member can leave, but leaving takes several days.
      </p>
      <button type="button" class="primary" disabled={busy} onClick={join}>
        {busy ? 'Joining…' : `Join ${name}`}
      </button>
      <FailureBox error={error} />
    </Card>
  )
}
