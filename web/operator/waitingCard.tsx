import type { Hex } from '../../src/client/index.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import { admit, setKyc } from '../chain/ownership.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { useNames, WalletName } from '../parts/walletName.js'
import type { Account } from '../state/account.js'
import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'

/** Institutions that wait for admission and members that wait for KYC. The owner has a button for each. */
export function WaitingCard() {
  const { waiting, account } = useStore()
  const { value, error } = waiting
  const count = value === null ? 0 : value.founded.length + value.unverified.length
  return (
    <Card title="Waiting for you" aside={count === 0 ? null : <span class="tag">{count}</span>}>
      <PolledFailure error={error} />
      {value?.complete && count === 0 ? (
        <p class="muted">Nobody waits for admission or verification.</p>
      ) : null}
      {value === null && error === null ? <p class="muted">Reading who waits…</p> : null}
      <ul class="waiting" data-test="waiting">
        {value?.founded.map(({ orgId, founder }) => (
          <li key={`${orgId} ${founder}`}>
            <b>{bytes32ToName(orgId) ?? shortHex(orgId)}</b> of <WalletName address={founder} />
            {account.value === null ? null : (
              <Admit account={account.value} orgId={orgId} founder={founder} />
            )}
          </li>
        ))}
        {value?.unverified.map((wallet) => (
          <li key={wallet}>
            <WalletName address={wallet} />
            {account.value === null ? null : <Verify account={account.value} wallet={wallet} />}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Admit({ account, orgId, founder }: { account: Account; orgId: Hex; founder: Hex }) {
  const { settings } = useStore()
  const name = bytes32ToName(orgId) ?? shortHex(orgId)
  return (
    <OwnersButton
      account={account}
      says="Admit"
      subject={name}
      act={() => admit(account.session, settings, orgId, founder)}
    />
  )
}

function Verify({ account, wallet }: { account: Account; wallet: Hex }) {
  const { settings } = useStore()
  const name = useNames()(wallet) ?? shortHex(wallet)
  return (
    <OwnersButton
      account={account}
      says="Verify"
      subject={name}
      act={() => setKyc(account.session, settings, wallet)}
    />
  )
}

interface OwnersButtonProps {
  readonly account: Account
  readonly says: string
  readonly subject: string
  readonly act: () => Promise<void>
}

/** Hidden from everyone but the platform's owner. */
function OwnersButton({ account, says, subject, act }: OwnersButtonProps) {
  const { waiting } = useStore()
  const { busy, error, run } = useAction()
  if (account.isOwner.value !== true) return null
  const press = () =>
    run(async () => {
      await act()
      waiting.refresh()
    })
  return (
    <>
      {' '}
      <button type="button" disabled={busy} aria-label={`${says} ${subject}`} onClick={press}>
        {busy ? 'Sending…' : says}
      </button>
      <FailureBox error={error} />
    </>
  )
}
