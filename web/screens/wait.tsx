import type { WalletView } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { OwnAddress } from '../parts/ownAddress.js'

const WAITING: Record<WalletView['waitingFor'][number], readonly [title: string, detail: string]> = {
  kyc: ['Verification', 'The operator of the platform has to verify this wallet (KYC).'],
  policy: ['A rulebook', 'The admin of the institution has to publish its first rulebook.'],
}

/** For a wallet in an institution that may not trade yet: what is missing, and who does it. */
export function WaitScreen({ address, view }: { address: string; view: WalletView }) {
  const name = view.orgId === null ? null : bytes32ToName(view.orgId)
  const steps = [
    ['Institution', `A member of ${name ?? 'an institution'}.`, true] as const,
    ...(['kyc', 'policy'] as const).map((step) => {
      const [title, detail] = WAITING[step]
      return [title, detail, !view.waitingFor.includes(step)] as const
    }),
  ]
  return (
    <div class="narrow">
      <h1>Almost there</h1>
      <p class="lead">This page looks again every few seconds, and opens by itself.</p>
      <ol class="steps">
        {steps.map(([title, detail, done]) => (
          <li key={title} class={done ? 'step done' : 'step'}>
            <span class="step-mark" aria-hidden="true">
              {done ? '✓' : '·'}
            </span>
            <div>
              <b>{title}</b> <span class={done ? 'tag tag-good' : 'tag'}>{done ? 'done' : 'waiting'}</span>
              <p class="muted">{detail}</p>
            </div>
          </li>
        ))}
      </ol>
      {view.waitingFor.includes('kyc') ? (
        <OwnAddress address={address} use="To be verified, give the operator your address." />
      ) : null}
      {view.role === 'admin' ? (
        <p>
          You are the admin: <a href="#/institution">invite members and publish the rulebook</a>.
        </p>
      ) : null}
    </div>
  )
}
