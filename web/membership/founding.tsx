import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

/** Founds an institution; the platform must admit it. */
export function Founding({ title }: { title: string }) {
  const { session, view } = useAccount()
  const { busy, error, run } = useAction()
  const [name, setName] = useState('')
  const found = (event: Event) => {
    event.preventDefault()
    run(async () => {
      await session.client.membership.found(name)
      view.refresh()
    })
  }
  return (
    <Card title={title}>
      <form onSubmit={found}>
        <Field
          label="Name of the institution"
          id="institution-name"
          hint="Public, at most 31 characters. The platform must admit it; until then others may found one with this name."
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
