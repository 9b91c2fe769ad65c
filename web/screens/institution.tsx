import { useMemo, useRef } from 'preact/hooks'
import { bytes32ToName, type Hex, type InstitutionView } from '../../src/client/index.js'
import { Members } from '../institution/members.js'
import { membersOf } from '../institution/membersOf.js'
import { MovesCard } from '../institution/movesCard.js'
import { Rulebook } from '../institution/rulebook.js'
import { RulebookHistory } from '../institution/rulebookHistory.js'
import { LeaveCard } from '../membership/leaving.js'
import { WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { KeyCard } from '../trade/keyCard.js'
import { isUnadmitted } from '../words/failures.js'
import { money, shares } from '../words/format.js'

export function InstitutionScreen({ orgId }: { orgId: Hex }) {
  const { institution, members, isAdmin: admin, view: wallet, isFileNeeded } = useAccount()
  const isAdmin = admin.value
  const found = members.value
  /**
   * The last whole list, and the same one while its members are the same. Without it, the form would lose its rows at each new reading, and
   * compare its rules again, with a button that takes no click meanwhile.
   */
  const known = useRef<readonly Hex[] | null>(null)
  const employees = useMemo(() => {
    const addresses = found?.isComplete ? membersOf(found).map(({ address }) => address) : null
    if (addresses !== null && addresses.join() !== known.current?.join()) known.current = addresses
    return known.current
  }, [found?.members, found?.admin, found?.isComplete])
  const view = institution.value
  if (isUnadmitted(institution.error)) return <Unadmitted name={bytes32ToName(orgId) ?? orgId} />
  return (
    <>
      <h1>{view?.name ?? 'Institution'}</h1>
      <PolledFailure error={institution.error} />
      <div class="columns">
        <div>
          {isAdmin ? null : <p class="muted">Only the admin can change members and rules.</p>}
          {view === null && institution.error === null ? <p class="muted">Loading…</p> : null}
          {isAdmin && view !== null ? (
            <Rulebook
              orgId={orgId}
              employees={employees}
              symbols={view.pool.equities.map(({ symbol }) => symbol)}
              version={view.rulesVersion}
            />
          ) : null}
          {isAdmin && isFileNeeded.value ? <KeyCard /> : null}
          {isAdmin && view !== null ? (
            <RulebookHistory employees={employees} version={view.rulesVersion} />
          ) : null}
        </div>
        <div>
          {isAdmin ? <Members /> : null}
          {isAdmin ? <MovesCard /> : null}
          {view === null ? null : <Summary view={view} />}
          {isAdmin || view === null ? null : (
            <LeaveCard name={view.name ?? 'it'} leavingAt={wallet.value?.leavingAt ?? null} />
          )}
        </div>
      </div>
    </>
  )
}

function Unadmitted({ name }: { name: string }) {
  return (
    <>
      <h1>{name}</h1>
      <p class="box box-wait">
        The platform’s operator has not admitted this institution yet. Members and a rulebook come after that.
      </p>
    </>
  )
}

function Summary({ view }: { view: InstitutionView }) {
  return (
    <Card title="At a glance">
      <dl class="facts">
        <dt>Admin</dt>
        <dd>
          <WalletName address={view.admin} />
        </dd>
        <dt>Employees</dt>
        <dd>{view.walletCount}</dd>
        <dt>Open orders</dt>
        <dd>{view.openOrders}</dd>
        <dt>Rulebook</dt>
        <dd>{view.rulesVersion === 0 ? 'none yet' : `version ${view.rulesVersion}`}</dd>
      </dl>
      <h3 class="spaced">The platform’s pool</h3>
      <dl class="facts">
        <dt>USDC</dt>
        <dd>{money(view.pool.usdc)}</dd>
        {view.pool.equities.map(({ symbol, shares: units }) => [
          <dt key={`${symbol} name`}>{symbol}</dt>,
          <dd key={symbol}>{shares(units)}</dd>,
        ])}
      </dl>
    </Card>
  )
}
