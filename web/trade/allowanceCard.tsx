import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { money } from '../words/format.js'

/** What the escrow may take from the wallet for later orders; hidden if that is nothing. */
export function AllowanceCard() {
  const { session, funds, placing } = useAccount()
  const allowance = funds.value?.allowance ?? 0n
  const { busy, error, run } = useAction()
  if (allowance === 0n) return null
  const withdraw = () =>
    run(async () => {
      await session.client.setAllowance(0n)
      funds.refresh()
    })
  return (
    <Card title="Allowance" aside={<span class="muted">visible on the chain</span>}>
      <p>
        For orders that this wallet sends, the escrow may take up to{' '}
        <b data-test="allowance">{money(allowance)} USDC</b> without asking for the payment again.
      </p>
      <button type="button" disabled={busy || placing.state.value.step !== null} onClick={withdraw}>
        {busy ? 'Waiting…' : 'Withdraw the allowance'}
      </button>
      <FailureBox error={error} />
    </Card>
  )
}
