import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

/** Creates an institution; the platform must admit it. */
export function Founding({ title }: { title: string }) {
  const { session, view } = useAccount()
  const { busy, error, run } = useAction()
  const [name, setName] = useState('')
  const found = (event: Event) => {
    event.preventDefault()
    run(async () => {
      await session.client.foundInstitution(name)
      view.refresh()
    })
  }
  return (
    <Card title={title}>
      <form onSubmit={found}>
        <Field
          label="Institution name"
          id="institution-name"
          hint="Public, up to 31 characters. Until the platform admits it, others can create one with the same name."
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
          {busy ? 'Creating…' : 'Create institution'}
        </button>
      </form>
      <FailureBox error={error} />
    </Card>
  )
}
