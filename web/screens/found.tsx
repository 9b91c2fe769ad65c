import { useState } from 'preact/hooks'
import type { Hex, WalletView } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { OwnAddress } from '../parts/ownAddress.js'
import type { Session } from '../wallet/session.js'

interface FoundProps {
  readonly session: Session
  readonly view: WalletView
  readonly onDone: () => void
}

/** For a wallet in no institution: it may found one, or join the one that invited it. */
export function FoundScreen({ session, view, onDone }: FoundProps) {
  return (
    <div class="narrow">
      <h1>Begin with an institution</h1>
      <p class="lead">
        A wallet trades as a member of an institution, whose admin writes the rules. This one belongs to none
        yet.
      </p>
      {view.invitedBy === null ? null : (
        <Invitation session={session} orgId={view.invitedBy} onDone={onDone} />
      )}
      <OwnAddress
        address={session.address}
        use="To be invited, give the admin of an institution your address."
      />
      <Founding session={session} onDone={onDone} />
    </div>
  )
}

function Invitation({ session, orgId, onDone }: { session: Session; orgId: Hex; onDone: () => void }) {
  const { busy, error, run } = useAction()
  const name = bytes32ToName(orgId) ?? orgId
  const join = () =>
    run(async () => {
      await session.client.membership.join(orgId)
      onDone()
    })
  return (
    <Card title="You are invited">
      <p>
        <b>{name}</b> invites this wallet.
      </p>
      <button type="button" class="primary" disabled={busy} onClick={join}>
        {busy ? 'Joining…' : `Join ${name}`}
      </button>
      <FailureBox error={error} />
    </Card>
  )
}

function Founding({ session, onDone }: { session: Session; onDone: () => void }) {
  const { busy, error, run } = useAction()
  const [name, setName] = useState('')
  const found = (event: Event) => {
    event.preventDefault()
    run(async () => {
      await session.client.membership.found(name)
      onDone()
    })
  }
  return (
    <Card title="Found one">
      <form onSubmit={found}>
        <Field
          label="Name of the institution"
          id="institution-name"
          hint="Public, and at most 31 characters."
        >
          <input
            id="institution-name"
            aria-describedby={hintId('institution-name')}
            required
            maxLength={31}
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Founding…' : 'Found it'}
        </button>
      </form>
      <FailureBox error={error} />
    </Card>
  )
}
