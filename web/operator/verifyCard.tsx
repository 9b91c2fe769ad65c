import { useCallback, useState } from 'preact/hooks'
import { addressSchema } from '../../src/protocol/address.js'
import { isOwner, setKyc } from '../chain/ownership.js'
import { useAction } from '../hooks/useAction.js'
import { usePolled } from '../hooks/usePolled.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'

const LOOK_MS = 60_000

/** For the platform's owner: lets a wallet trade. Nothing for anybody else. */
export function VerifyCard({ session, settings }: { session: Session; settings: Settings }) {
  const { value: mayVerify } = usePolled(
    useCallback(() => isOwner(session, settings), [session, settings]),
    LOOK_MS,
  )
  const { busy, error, run } = useAction()
  const [text, setText] = useState('')
  const [verified, setVerified] = useState<string | null>(null)
  if (mayVerify !== true) return null
  const address = addressSchema.safeParse(text.trim())
  const verify = (event: Event) => {
    event.preventDefault()
    if (!address.success) return
    run(async () => {
      setVerified(null)
      await setKyc(session, settings, address.data)
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
          hint="It may trade then, as a member of an institution (KYC)."
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
