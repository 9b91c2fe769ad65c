import { useState } from 'preact/hooks'
import { addressSchema } from '../../src/protocol/address.js'
import type { Member } from '../chain/members.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { WalletName } from '../parts/walletName.js'
import { useAccount } from '../state/context.js'

export function Members() {
  const { session, members } = useAccount()
  const found = members.value
  const { busy, error, run } = useAction()
  const { membership } = session.client
  const change = (act: () => Promise<unknown>) =>
    run(async () => {
      await act()
      members.refresh()
    })
  return (
    <Card title="Members">
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Wallet</th>
              <th scope="col">Status</th>
              <th scope="col">
                <span class="visually-hidden">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {found?.members.map(({ address, state }) => (
              <tr key={address}>
                <th scope="row">
                  <WalletName address={address} />
                </th>
                <td>
                  <span class={state === 'invited' || state === 'leaving' ? 'tag' : 'tag tag-good'}>
                    {state}
                  </span>
                </td>
                <td class="number">
                  {state === 'admin' ? null : (
                    <button
                      type="button"
                      class="quiet"
                      disabled={busy}
                      onClick={() => change(() => membership.remove(address))}
                    >
                      {state === 'invited' ? 'Withdraw' : 'Remove'}
                      <span class="visually-hidden"> {address}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found?.complete ? null : <p class="muted">Reading the members…</p>}
      <Invite busy={busy} onInvite={(address) => change(() => membership.invite(address))} />
      <FailureBox error={error} />
    </Card>
  )
}

interface InviteProps {
  readonly busy: boolean
  /** Resolves with whether the invitation succeeded. */
  readonly onInvite: (address: Member['address']) => Promise<boolean>
}

function Invite({ busy, onInvite }: InviteProps) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const invite = async (event: Event) => {
    event.preventDefault()
    const address = addressSchema.safeParse(text.trim())
    setWrong(!address.success)
    if (!address.success) return
    if (await onInvite(address.data)) setText('')
  }
  return (
    <form onSubmit={invite}>
      <Field
        label="Invite a wallet"
        id="invite-address"
        hint={
          isWrong ? 'Not an address: expected 0x and 40 hex digits.' : 'It becomes a member when it joins.'
        }
      >
        <div class="row">
          <input
            id="invite-address"
            aria-describedby={hintId('invite-address')}
            required
            class="grow"
            autocomplete="off"
            spellcheck={false}
            placeholder="0x…"
            aria-invalid={isWrong}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" disabled={busy}>
            {busy ? 'Waiting…' : 'Invite'}
          </button>
        </div>
      </Field>
    </form>
  )
}
