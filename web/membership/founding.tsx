import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

/** Not a printable character of ASCII: the registry takes no other. */
const UNREGISTRABLE = /[^\x20-\x7e]/u

/** Why the registry would refuse the name of an institution; null if it would not, and while the name is empty. */
function institutionNameFault(name: string): string | null {
  const found = UNREGISTRABLE.exec(name)?.[0]
  if (found === undefined) return null
  return `“${found}” cannot be in the name: use letters without accents, digits, spaces and the punctuation of an English keyboard.`
}

/** Creates an institution; the platform must admit it. */
export function Founding({ title }: { title: string }) {
  const { session, view } = useAccount()
  const { busy, error, run } = useAction()
  const [name, setName] = useState('')
  const fault = institutionNameFault(name)
  // An empty field gets the browser's own hint.
  const isBlank = name !== '' && name.trim() === ''
  const found = (event: Event) => {
    event.preventDefault()
    run(async () => {
      await session.client.foundInstitution(name.trim())
      view.refresh()
    })
  }
  return (
    <Card title={title}>
      <form onSubmit={found}>
        <Field
          label="Institution name"
          id="institution-name"
          hint="Public, up to 31 characters: letters without accents, digits, spaces and punctuation. Until the platform admits it, others can create one with the same name."
          error={fault}
        >
          <input
            id="institution-name"
            aria-describedby={hintId('institution-name')}
            required
            maxLength={31}
            autocomplete="off"
            aria-invalid={fault !== null}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="primary" disabled={busy || fault !== null || isBlank}>
          {busy ? 'Creating…' : 'Create institution'}
        </button>
      </form>
      <FailureBox error={error} />
    </Card>
  )
}
