import { bytes32ToName, type WalletView } from '../../src/client/index.js'
import { Founding } from '../membership/founding.js'
import { Invitation } from '../membership/invitation.js'
import { LeavingNote } from '../membership/leaving.js'
import { OwnAddress } from '../parts/copyAddress.js'
import { useAccount } from '../state/context.js'
import './wait.css'

const WAITING: Record<WalletView['waitingFor'][number], readonly [title: string, detail: string]> = {
  admission: ['Admission', 'The platform’s operator admits the institution.'],
  kyc: ['Verification', 'The platform’s operator verifies this wallet (KYC).'],
  policy: ['A rulebook', 'The institution’s admin publishes its first rulebook.'],
}

/** For a wallet that may not trade yet: the missing steps, and who takes them. */
export function WaitScreen({ view }: { view: WalletView }) {
  const { address } = useAccount().session
  const name = view.orgId === null ? null : bytes32ToName(view.orgId)
  const belongs =
    view.role === 'founder' ? `You created ${name}.` : `You are a member of ${name ?? 'an institution'}.`
  const steps = [
    ['Institution', belongs, true] as const,
    ...(['admission', 'kyc', 'policy'] as const).map((step) => {
      const [title, detail] = WAITING[step]
      return [title, detail, !view.waitingFor.includes(step)] as const
    }),
  ]
  return (
    <div class="narrow">
      <h1>Almost there</h1>
      <p class="lead">This page checks every few seconds and opens when all steps are done.</p>
      <LeavingNote leavingAt={view.leavingAt} />
      <ol class="steps">
        {steps.map(([title, detail, done]) => (
          <li key={title} class={done ? 'step done' : 'step'}>
            <span class="step-mark" aria-hidden="true">
              {done ? '✓' : '·'}
            </span>
            <div>
              <b>{title}</b>{' '}
              <span class={done ? 'tag tag-good' : 'tag tag-wait'}>{done ? 'done' : 'waiting'}</span>
              <p class="muted">{detail}</p>
            </div>
          </li>
        ))}
      </ol>
      {view.role === 'founder' ? (
        <OwnAddress
          address={address}
          use="To be admitted, give the operator the institution’s name and your address."
        />
      ) : view.waitingFor.includes('kyc') ? (
        <OwnAddress address={address} use="To be verified, give the operator your address." />
      ) : null}
      {view.role === 'admin' ? (
        <p>
          You are the admin: <a href="#/institution">invite members and publish the rulebook</a>.
        </p>
      ) : null}
      {view.invitation === null ? null : <Invitation invitation={view.invitation} />}
      {view.role === 'founder' ? <Founding title="Create another institution" /> : null}
    </div>
  )
}
