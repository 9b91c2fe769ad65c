import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import type { Session } from '../wallet/session.js'

interface FoundingProps {
  readonly title: string
  readonly session: Session
  readonly onDone: () => void
}

/** Founds an institution, which the platform has to admit. */
export function Founding({ title, session, onDone }: FoundingProps) {
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
    <Card title={title}>
      <form onSubmit={found}>
        <Field
          label="Name of the institution"
          id="institution-name"
          hint="Public, and at most 31 characters. The platform has to admit it; until then others may found one of this name."
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
