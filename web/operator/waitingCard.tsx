import type { Hex } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'
import { OwnersButton } from './ownersButton.js'

/** Institutions that wait for admission and members that wait for KYC. The owner has a button for each. */
export function WaitingCard() {
  const { waiting } = useStore()
  const nameOf = useNames()
  const { value, error } = waiting
  const count = value === null ? 0 : value.founded.length + value.unverified.length
  const nameOfOrg = (orgId: Hex) => bytes32ToName(orgId) ?? shortHex(orgId)
  return (
    <Card title="Waiting for you" aside={count === 0 ? null : <span class="tag">{count}</span>}>
      <PolledFailure error={error} />
      {value?.isComplete && count === 0 ? (
        <p class="muted">No institution is waiting for admission, and no member for verification.</p>
      ) : null}
      {value === null && error === null ? <p class="muted">Reading the waiting list…</p> : null}
      <ul class="waiting" data-test="waiting">
        {value?.founded.map(({ orgId, founder }) => (
          <li key={`${orgId} ${founder}`}>
            <b>{nameOfOrg(orgId)}</b> of <WalletName address={founder} />
            <OwnersButton
              says="Admit"
              subject={nameOfOrg(orgId)}
              act={({ session }) => session.client.admitInstitution(orgId, founder)}
              onDone={waiting.refresh}
            />
          </li>
        ))}
        {value?.unverified.map((wallet) => (
          <li key={wallet}>
            <WalletName address={wallet} />
            <OwnersButton
              says="Verify"
              subject={nameOf(wallet) ?? shortHex(wallet)}
              act={({ session }) => session.client.verifyWallet(wallet)}
              onDone={waiting.refresh}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}
