import { useCallback, useMemo } from 'preact/hooks'
import type { Hex, InstitutionView, Views } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import type { Members as FoundMembers } from '../chain/members.js'
import type { Ask } from '../chain/remembered.js'
import { usePolled } from '../hooks/usePolled.js'
import { Members } from '../institution/members.js'
import { Rulebook } from '../institution/rulebook.js'
import type { RulebookWork } from '../institution/useRulebook.js'
import { LeaveCard } from '../membership/leaving.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { WalletName } from '../parts/walletName.js'
import type { Settings } from '../settings.js'
import type { Session } from '../wallet/session.js'
import { isUnadmitted } from '../words/failures.js'
import { money, shares } from '../words/format.js'

interface InstitutionProps {
  readonly session: Session
  readonly views: Views
  readonly settings: Settings
  readonly readMembers: Ask<FoundMembers>
  readonly orgId: Hex
  readonly isAdmin: boolean
  /** Unix seconds at which the wallet leaves it, null while it stays. */
  readonly leavingAt: number | null
  readonly onLeave: () => void
  readonly rulebook: RulebookWork
}

const LOOK_MS = 5_000

export function InstitutionScreen({
  session,
  views,
  settings,
  readMembers,
  orgId,
  isAdmin,
  leavingAt,
  onLeave,
  rulebook,
}: InstitutionProps) {
  const institution = usePolled(
    useCallback((signal: AbortSignal) => views.institution(orgId, signal), [views, orgId]),
    LOOK_MS,
  )
  const members = usePolled(readMembers, LOOK_MS)
  const found = members.value
  const employees = useMemo(
    () => (found?.complete ? found.members.map(({ address }) => address) : null),
    [found],
  )
  const view = institution.value
  if (isUnadmitted(institution.error)) return <Unadmitted name={bytes32ToName(orgId) ?? orgId} />
  return (
    <>
      <h1>{view?.name ?? 'Institution'}</h1>
      <PolledFailure error={institution.error ?? members.error} />
      <div class="columns">
        <div>
          {isAdmin ? null : <p class="muted">Members and rules are changed by the admin’s wallet.</p>}
          {view === null && institution.error === null ? <p class="muted">Asking the server…</p> : null}
          {isAdmin && view !== null ? (
            <Rulebook
              work={rulebook}
              settings={settings}
              orgId={orgId}
              employees={employees}
              symbols={view.pool.equities.map(({ symbol }) => symbol)}
              version={view.rulesVersion}
              onPublished={institution.refresh}
            />
          ) : null}
        </div>
        <div>
          {isAdmin ? (
            <Members session={session} settings={settings} found={found} onChange={members.refresh} />
          ) : null}
          {view === null ? null : <Summary view={view} settings={settings} />}
          {isAdmin || view === null ? null : (
            <LeaveCard session={session} name={view.name ?? 'it'} leavingAt={leavingAt} onDone={onLeave} />
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
      <p class="box">
        The operator of the platform has not admitted it yet. Until then it has no members and no rulebook.
      </p>
    </>
  )
}

function Summary({ view, settings }: { view: InstitutionView; settings: Settings }) {
  return (
    <Card title="At a glance">
      <dl class="facts">
        <dt>Admin</dt>
        <dd>
          <WalletName address={view.admin} settings={settings} />
        </dd>
        <dt>Employees</dt>
        <dd>{view.walletCount}</dd>
        <dt>Open orders</dt>
        <dd>{view.openOrders}</dd>
        <dt>Rulebook</dt>
        <dd>{view.rulesVersion === 0 ? 'none yet' : `version ${view.rulesVersion}`}</dd>
      </dl>
      <h3 class="spaced">The whole platform’s pool</h3>
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
