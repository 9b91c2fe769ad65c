import { useState } from 'preact/hooks'
import { applyChange } from '../../src/client/operator.js'
import { addressSchema } from '../../src/protocol/address.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

/** For the platform's owner: verifies a wallet. Hidden from everyone else. */
export function VerifyCard() {
  const { session, isOwner } = useAccount()
  const { busy, error, run } = useAction()
  const [text, setText] = useState('')
  const [verified, setVerified] = useState<string | null>(null)
  if (isOwner.value !== true) return null
  const address = addressSchema.safeParse(text.trim())
  const verify = (event: Event) => {
    event.preventDefault()
    if (!address.success) return
    run(async () => {
      setVerified(null)
      await applyChange(session.client, { kind: 'kyc', wallet: address.data, isVerified: true })
      setVerified(address.data)
      setText('')
    })
  }
  return (
    <Card title="Verify a wallet">
      <form onSubmit={verify}>
        <Field
          label="Address"
          id="verify-address"
          hint="A verified wallet (KYC) can trade as a member of an institution."
        >
          <input
            id="verify-address"
            aria-describedby={hintId('verify-address')}
            required
            autocomplete="off"
            spellcheck={false}
            placeholder="0x…"
            aria-invalid={text !== '' && !address.success}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="primary" disabled={busy || !address.success}>
          {busy ? 'Verifying…' : 'Verify'}
        </button>
      </form>
      {verified === null ? null : (
        <p class="box box-good" role="status">
          {verified} is verified.
        </p>
      )}
      <FailureBox error={error} />
    </Card>
  )
}
