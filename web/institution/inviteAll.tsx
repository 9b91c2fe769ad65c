import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'

/** Offers to invite the wallets of an imported file that are not in the institution yet. */
export function InviteAll() {
  const { rulebook, members, session } = useAccount()
  const { busy, error, run } = useAction()
  const [invited, setInvited] = useState<ReadonlySet<string>>(new Set())
  const found = members.value
  if (found === null) return null
  const known = new Set<string>([...found.members.map(({ address }) => address), ...invited])
  const missing = rulebook.state.value.imported.filter((address) => !known.has(address))
  if (missing.length === 0 || (!found.complete && !busy)) return null
  const invite = () =>
    run(async () => {
      for (const address of missing) {
        await session.client.inviteMember(address)
        setInvited((before) => new Set(before).add(address))
        members.refresh()
      }
    })
  const isOne = missing.length === 1
  const count = isOne ? '1 wallet' : `${missing.length} wallets`
  return (
    <div class="box box-warn" data-test="uninvited">
      <strong>
        {count} of the file {isOne ? 'is' : 'are'} not invited yet
      </strong>
      <p>
        A rulebook lists a wallet once it is invited. Each invitation is one transaction, which your wallet
        confirms.
      </p>
      <p>
        <button type="button" class="quiet" disabled={busy} onClick={invite}>
          {busy ? 'Inviting…' : `Invite ${count}`}
        </button>
      </p>
      <FailureBox error={error} />
    </div>
  )
}
