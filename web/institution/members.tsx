import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { addressSchema } from '../../src/protocol/address.js'
import { useAction } from '../hooks/useAction.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import { useAccount } from '../state/context.js'
import { type Member, membersOf } from './membersOf.js'
import { Naming, SealedNames } from './naming.js'
import './members.css'

const TONES = { admin: 'good', member: 'good', leaving: 'warn', invited: 'wait' } as const

export function Members() {
  const { session, members } = useAccount()
  const found = members.value
  const listed = useMemo(() => (found === null ? [] : membersOf(found)), [found?.members, found?.admin])
  const { busy, error, run } = useAction()
  const [removing, setRemoving] = useState<Member | null>(null)
  const [removed, setRemoved] = useState<Member | null>(null)
  const [naming, setNaming] = useState<Member['address'] | null>(null)
  const asked = useRef<HTMLButtonElement | null>(null)
  const nameOf = useNames()
  const { client } = session
  const change = (act: () => Promise<unknown>) =>
    run(async () => {
      await act()
      members.refresh()
    })
  return (
    <Card title="Members">
      <SealedNames />
      <Paged
        id="members"
        what="members"
        items={listed}
        textOf={({ address, state }) => `${nameOf(address) ?? ''} ${address} ${state}`}
      >
        {(shown) => (
          <div class="scroll">
            <table class="people">
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
                {shown.map((member) => (
                  <MemberRow
                    key={member.address}
                    member={member}
                    busy={busy}
                    onName={(button) => {
                      asked.current = button
                      setNaming(member.address)
                    }}
                    onRemove={(button) => {
                      asked.current = button
                      setRemoved(null)
                      setRemoving(member)
                    }}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
      {naming === null ? null : (
        <Naming
          key={naming}
          address={naming}
          onEnd={() => {
            setNaming(null)
            asked.current?.focus()
          }}
        />
      )}
      {removing === null ? null : (
        <Removal
          key={removing.address}
          member={removing}
          busy={busy}
          onRemove={async () => {
            if (!(await change(() => client.removeMember(removing.address)))) return
            setRemoving(null)
            setRemoved(removing)
          }}
          onKeep={() => {
            setRemoving(null)
            asked.current?.focus()
          }}
        />
      )}
      {removed === null ? null : <Removed key={removed.address} member={removed} />}
      <ListState what="members" query={members} count={listed.length} />
      <Invite busy={busy} onInvite={(address) => change(() => client.inviteMember(address))} />
      <FailureBox error={error} />
    </Card>
  )
}

interface MemberRowProps {
  readonly member: Member
  readonly busy: boolean
  readonly onName: (button: HTMLButtonElement) => void
  readonly onRemove: (button: HTMLButtonElement) => void
}

function MemberRow({ member: { address, state }, busy, onName, onRemove }: MemberRowProps) {
  return (
    <tr>
      <th scope="row">
        <WalletName address={address} />
      </th>
      <td>
        <span class={`tag tag-${TONES[state]}`}>{state}</span>
      </td>
      <td class="number">
        <button type="button" class="quiet" onClick={({ currentTarget }) => onName(currentTarget)}>
          Name<span class="visually-hidden"> {address}</span>
        </button>{' '}
        {state === 'admin' ? null : (
          <button
            type="button"
            class="quiet"
            disabled={busy}
            onClick={({ currentTarget }) => onRemove(currentTarget)}
          >
            {state === 'invited' ? 'Cancel' : 'Remove'}
            <span class="visually-hidden"> {address}</span>
          </button>
        )}
      </td>
    </tr>
  )
}

interface RemovalProps {
  readonly member: Member
  readonly busy: boolean
  readonly onRemove: () => void
  readonly onKeep: () => void
}

/** Asks before a member is removed, or an invitation cancelled. */
function Removal({ member: { address, state }, busy, onRemove, onKeep }: RemovalProps) {
  const keep = useRef<HTMLButtonElement>(null)
  // The question stands below the table, away from the button that asked it.
  useEffect(() => keep.current?.focus(), [])
  const isInvited = state === 'invited'
  return (
    <div class="box box-warn" role="alert" data-test="removal">
      <strong>
        {isInvited ? 'Cancel the invitation to' : 'Remove'} <WalletName address={address} />?
      </strong>
      <p>
        {isInvited
          ? 'This wallet can then no longer join with it. You can invite it again.'
          : 'This wallet can then no longer buy. It can still sell and withdraw. To return, it needs another invitation.'}
      </p>
      <p class="row">
        <button type="button" disabled={busy} onClick={onRemove}>
          {busy ? 'Waiting…' : isInvited ? 'Yes, cancel' : 'Yes, remove'}
        </button>
        <button type="button" ref={keep} disabled={busy} onClick={onKeep}>
          Keep
        </button>
      </p>
    </div>
  )
}

/** Takes the focus: the button that was pressed has gone with its question, and the row goes too. */
function Removed({ member: { address, state } }: { member: Member }) {
  const said = useRef<HTMLParagraphElement>(null)
  useEffect(() => said.current?.focus(), [])
  return (
    <p class="box box-good" role="status" tabIndex={-1} ref={said} data-test="removed">
      {state === 'invited' ? 'Cancelled: the invitation to' : 'Removed:'} <WalletName address={address} />
    </p>
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
        hint="It becomes a member when it joins."
        error={isWrong ? 'Not an address: enter 0x and 40 hex digits.' : null}
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
