import { useMemo, useState } from 'preact/hooks'
import { ContractError, type Hex } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { WalletName } from '../membership/walletName.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { membersOf } from './membersOf.js'

const NONE: ReadonlySet<Hex> = new Set()

/** Offers to invite the wallets of an imported file that are not in the institution yet. One in another institution holds up no other. */
export function InviteAll() {
  const { rulebook, members, session, orgId } = useAccount()
  const { busy, error, run } = useAction()
  const [invited, setInvited] = useState(NONE)
  const [elsewhere, setElsewhere] = useState(NONE)
  const [turn, setTurn] = useState({ at: 0, of: 0 })
  const found = members.value
  const { imported } = rulebook.state.value
  const missing = useMemo(() => {
    if (found === null || imported.length === 0) return []
    const known = new Set([...membersOf(found).map(({ address }) => address), ...invited, ...elsewhere])
    return imported.filter((address) => !known.has(address))
  }, [found?.members, found?.admin, imported, invited, elsewhere])
  if (found === null) return null
  /** Whether a refused wallet has joined this institution in between, and not another one. Rethrows what concerns every wallet. */
  const isOurs = (failure: unknown) => {
    if (!(failure instanceof ContractError) || failure.code !== 'AlreadyInInstitution') throw failure
    return failure.args.orgId === orgId.value
  }
  const invite = () =>
    run(async () => {
      for (const [at, address] of missing.entries()) {
        setTurn({ at: at + 1, of: missing.length })
        const isInvited = await session.client.inviteMember(address).then(() => true, isOurs)
        const add = isInvited ? setInvited : setElsewhere
        add((before) => new Set(before).add(address))
        members.refresh()
      }
    })
  const isOne = missing.length === 1
  const count = isOne ? '1 wallet' : `${missing.length} wallets`
  return (
    <>
      {missing.length > 0 && (found.isComplete || busy) ? (
        <div class="box box-warn" data-test="uninvited">
          <strong>
            {count} in the file {isOne ? 'is' : 'are'} not invited yet
          </strong>
          <p>
            The draft below lists a wallet once it is invited. Each invitation is one transaction, which your
            wallet confirms.
          </p>
          <p>
            <button type="button" class="quiet" disabled={busy} onClick={invite}>
              {busy ? `Inviting ${turn.at} of ${turn.of}…` : `Invite ${count}`}
            </button>
          </p>
          <FailureBox error={error} />
        </div>
      ) : null}
      <Elsewhere wallets={imported.filter((address) => elsewhere.has(address))} />
    </>
  )
}

function Elsewhere({ wallets }: { wallets: readonly Hex[] }) {
  if (wallets.length === 0) return null
  const isOne = wallets.length === 1
  return (
    <div class="box box-bad" role="alert" data-test="elsewhere">
      <strong>
        {isOne ? '1 wallet belongs' : `${wallets.length} wallets belong`} to another institution
      </strong>
      <p>
        {isOne ? 'It was' : 'They were'} not invited. Invite a wallet under “Members” once it has left the
        other institution.
      </p>
      <ul class="changes">
        {wallets.map((address) => (
          <li key={address}>
            <WalletName address={address} />
          </li>
        ))}
      </ul>
    </div>
  )
}
