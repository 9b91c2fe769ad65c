import { useState } from 'preact/hooks'
import { bytes32ToName, nameToBytes32 } from '../../src/client/index.js'
import { applyChange } from '../../src/client/operator.js'
import { addressSchema } from '../../src/protocol/address.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

/** For the platform's owner: admits a founded institution. Hidden from everyone else. */
export function AdmitCard() {
  const { session, isOwner } = useAccount()
  const { busy, error, run } = useAction()
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const [admitted, setAdmitted] = useState<string | null>(null)
  if (isOwner.value !== true) return null
  const orgId = idOf(name)
  const founder = addressSchema.safeParse(text.trim())
  const submit = (event: Event) => {
    event.preventDefault()
    if (orgId === null || !founder.success) return
    run(async () => {
      setAdmitted(null)
      await applyChange(session.client, { kind: 'admission', orgId, admin: founder.data, isAdmitted: true })
      setAdmitted(bytes32ToName(orgId))
      setName('')
      setText('')
    })
  }
  return (
    <Card title="Admit an institution">
      <form onSubmit={submit}>
        <Field label="Institution name" id="admit-name" hint="Exactly as its founder wrote it.">
          <input
            id="admit-name"
            aria-describedby={hintId('admit-name')}
            required
            maxLength={31}
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field
          label="Founder’s address"
          id="admit-founder"
          hint="Becomes its admin. Anyone can use the same name, so ask the institution for this address."
        >
          <input
            id="admit-founder"
            aria-describedby={hintId('admit-founder')}
            required
            autocomplete="off"
            spellcheck={false}
            placeholder="0x…"
            aria-invalid={text !== '' && !founder.success}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="primary" disabled={busy || orgId === null || !founder.success}>
          {busy ? 'Admitting…' : 'Admit'}
        </button>
      </form>
      {admitted === null ? null : (
        <p class="box box-good" role="status">
          {admitted} is admitted.
        </p>
      )}
      <FailureBox error={error} />
    </Card>
  )
}

/** Null for an invalid name. */
function idOf(name: string) {
  try {
    return nameToBytes32(name)
  } catch {
    return null
  }
}
