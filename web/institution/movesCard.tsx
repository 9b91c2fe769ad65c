import { useState } from 'preact/hooks'
import { addressSchema } from '../../src/protocol/address.js'
import { useAction } from '../hooks/useAction.js'
import { MoveList } from '../membership/moveList.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { useAccount } from '../state/context.js'

const FIELDS = [
  ['from', 'Lost wallet', 'A member whose key is lost.'],
  ['to', 'New wallet of the same person', 'It accepts the move on its own page.'],
] as const
type FieldName = (typeof FIELDS)[number][0]

/** For the admin: proposes to move a lost wallet's portfolio, and withdraws a proposal. */
export function MovesCard() {
  const { session, moves } = useAccount()
  const { busy, error, run } = useAction()
  const [texts, setTexts] = useState<Record<FieldName, string>>({ from: '', to: '' })
  const [from, to] = [texts.from, texts.to].map((text) => addressSchema.safeParse(text.trim()).data)
  const faultOf = (name: FieldName, text: string) => {
    if (text === '') return null
    if (!addressSchema.safeParse(text.trim()).success) return 'Not an address: enter 0x and 40 hex digits.'
    return name === 'to' && from === to ? 'This is the lost wallet itself.' : null
  }
  const propose = (event: Event) => {
    event.preventDefault()
    if (from === undefined || to === undefined || from === to) return
    run(async () => {
      await session.client.proposeMove(from, to)
      setTexts({ from: '', to: '' })
      moves.refresh()
    })
  }
  return (
    <Card title="Lost wallets">
      <p class="muted">
        The portfolio of a member who has lost the key of a wallet can be moved to a new wallet: you propose
        it, the new wallet accepts, the platform’s owner approves, and a week later it is carried out. Until
        then the lost wallet can object.
      </p>
      <MoveList
        query={moves}
        actions={({ from: lost }) => [
          { says: 'Withdraw', act: () => session.client.withdrawMove({ from: lost }) },
        ]}
      />
      <form onSubmit={propose}>
        {FIELDS.map(([name, label, hint]) => {
          const id = `move-${name}`
          const fault = faultOf(name, texts[name])
          return (
            <Field key={name} label={label} id={id} hint={hint} error={fault}>
              <input
                id={id}
                aria-describedby={hintId(id)}
                required
                autocomplete="off"
                spellcheck={false}
                placeholder="0x…"
                aria-invalid={fault !== null}
                value={texts[name]}
                onInput={({ currentTarget: { value } }) => setTexts({ ...texts, [name]: value })}
              />
            </Field>
          )
        })}
        <button type="submit" disabled={busy}>
          {busy ? 'Waiting…' : 'Propose the move'}
        </button>
      </form>
      <FailureBox error={error} />
    </Card>
  )
}
