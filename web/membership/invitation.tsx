import { bytes32ToName, type WalletView } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { WalletName } from './walletName.js'

interface InvitationProps {
  readonly invitation: NonNullable<WalletView['invitation']>
}

/** Identifies the inviting institution by its admin's address, because names can be imitated. */
export function Invitation({ invitation }: InvitationProps) {
  const { session, view } = useAccount()
  const { busy, error, run } = useAction()
  const { orgId, admin } = invitation
  const name = bytes32ToName(orgId) ?? orgId
  const join = () =>
    run(async () => {
      await session.client.joinInstitution(orgId)
      view.refresh()
    })
  return (
    <Card title="You are invited">
      <p>
        <b>{name}</b> invites this wallet. Its admin is <WalletName address={admin} />:
      </p>
      <p>
        <code class="whole" data-test="invited-by">
          {admin}
        </code>
      </p>
      <p class="muted">
        Anyone can copy a name, but not an address. Compare this one with the address that your employer gave
        you. You can leave later; leaving takes several days.
      </p>
      <button type="button" class="primary" disabled={busy} onClick={join}>
        {busy ? 'Joining…' : `Join ${name}`}
      </button>
      <FailureBox error={error} />
    </Card>
  )
}
