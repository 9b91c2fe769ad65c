import type { HealthChecks } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useStore } from '../state/context.js'
import { ether, shortHex, timeOfDay } from '../words/format.js'

const TONES = { healthy: 'good', degraded: 'warn', unhealthy: 'bad' } as const

/** Whether an order could be completed now, by check, and what is left for the gas. */
export function ReadinessCard() {
  const { value, error } = useStore().checks
  return (
    <Card title="Readiness" aside={value === null ? null : <Status status={value.status} />}>
      <PolledFailure error={error} />
      {value === null && error === null ? <p class="muted">Asking the server…</p> : null}
      {value === null ? null : <Checks {...value} />}
    </Card>
  )
}

function Checks({ asOf, checks, relayer, minBalance, gas }: HealthChecks) {
  const forNew = gas.limit - gas.reserve
  return (
    <>
      <dl class="facts" data-test="checks">
        {checks.map(({ name, status, reason }) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd key={name}>
            <Status status={status} /> {reason === null ? null : <code>{reason}</code>}
          </dd>,
        ])}
      </dl>
      <dl class="facts" data-test="relayer">
        {relayer === null ? null : (
          <>
            <dt>Relayer</dt>
            <dd>
              {ether(relayer.balance)} ether <code title={relayer.address}>{shortHex(relayer.address)}</code>
            </dd>
          </>
        )}
        <dt>Its floor</dt>
        <dd>{ether(minBalance)} ether</dd>
        <dt>Gas today</dt>
        <dd>
          {count(forNew - gas.remaining)} of {count(forNew)} used
        </dd>
        <dt>Reserve</dt>
        <dd>
          {count(gas.reserve - gas.reserveRemaining)} of {count(gas.reserve)} used
        </dd>
      </dl>
      <p class="hint">
        As of {timeOfDay(asOf, new Date())}. A day ends at midnight UTC; the reserve is for orders that are
        held. docs/operations/every-day.md has a remedy for each reason.
      </p>
    </>
  )
}

function Status({ status }: Pick<HealthChecks, 'status'>) {
  return <span class={`tag tag-${TONES[status]}`}>{status}</span>
}

function count(gas: bigint): string {
  return gas.toLocaleString('en-GB')
}
