import { useEffect, useRef, useState } from 'preact/hooks'
import { isName, MAX_NAME } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'
import { UnreadableNamesError } from '../state/names.js'

interface NamingProps {
  readonly address: Hex
  readonly onEnd: () => void
}

/** Asks for a member's name. While the names are sealed, the form does not show the current one, and so does not remove it. */
export function Naming({ address, onEnd }: NamingProps) {
  const { names } = useAccount()
  const { busy, error, run } = useAction()
  const shown = useNames()(address) ?? ''
  const { kept } = names.state.value
  const isHidden = kept === 'reading' || kept === 'sealed'
  /** Null until the admin enters a name: the field shows the current one once the names are open. */
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? (isHidden ? '' : shown)
  const field = useRef<HTMLInputElement>(null)
  // The form stands below the table, away from the button that opened it.
  useEffect(() => field.current?.focus(), [])
  const name = text.trim()
  const isWrong = name !== '' && !isName(name)
  const isRemoval = isHidden && name === ''
  const save = async (event: Event) => {
    event.preventDefault()
    if (isWrong || isRemoval) return
    if (await run(() => names.give([[address, name]]))) onEnd()
  }
  return (
    <form class="box" onSubmit={save} data-test="naming">
      <p>
        <WalletName address={address} />
      </p>
      <Field
        label="Name"
        id="member-name"
        hint={
          isHidden
            ? 'The names on this device are sealed. Open them to see the current name. A name that you save here replaces it.'
            : 'It stays on this device, sealed to your wallet. Leave it empty to remove it.'
        }
        error={isWrong ? `Enter a name of ${MAX_NAME} characters or less, without line breaks.` : null}
      >
        <input
          id="member-name"
          ref={field}
          autocomplete="off"
          aria-describedby={hintId('member-name')}
          aria-invalid={isWrong}
          value={text}
          onInput={({ currentTarget: { value } }) => setTyped(isHidden && value === '' ? null : value)}
        />
      </Field>
      <p class="row">
        <button type="submit" disabled={busy || isRemoval}>
          {busy ? 'Waiting…' : 'Save the name'}
        </button>
        <button type="button" disabled={busy} onClick={onEnd}>
          Cancel
        </button>
      </p>
      <FailureBox error={error} />
    </form>
  )
}

const UNREADABLE = new UnreadableNamesError()

/** Opens the names on this device, at once where that asks the wallet nothing. */
export function SealedNames() {
  const { names, key, rulebook } = useAccount()
  const { kept } = names.state.value
  const { busy, error, run } = useAction()
  const isKeyInUse = key.value !== null || rulebook.state.value.policies.size > 0
  useEffect(() => {
    if (kept === 'sealed' && isKeyInUse) run(names.open)
  }, [kept, isKeyInUse, names, run])
  if (kept === 'unreadable') {
    return (
      <div class="box">
        <FailureBox error={UNREADABLE} />
        <p class="row">
          <button type="button" class="quiet" disabled={busy} onClick={() => run(names.open)}>
            Try again
          </button>
          <button type="button" class="quiet" disabled={busy} onClick={() => run(names.forget)}>
            Forget the names
          </button>
        </p>
        <FailureBox error={error} />
      </div>
    )
  }
  if (kept !== 'sealed') return null
  return (
    <div class="box">
      <p>The members’ names on this device are sealed.</p>
      <p>
        <button type="button" class="quiet" disabled={busy} onClick={() => run(names.open)}>
          {busy ? 'Opening…' : 'Open the names'}
        </button>
      </p>
      <FailureBox error={error} />
    </div>
  )
}
