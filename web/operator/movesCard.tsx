import { applyChange } from '../../src/client/operator.js'
import { MoveList } from '../membership/moveList.js'
import { Card } from '../parts/card.js'
import { useStore } from '../state/context.js'

const OUTCOME = 'A week later the portfolio can be moved, and then nothing brings it back.'

/** The moves of lost wallets' portfolios. The owner approves one that its new wallet has accepted, or ends it. */
export function MovesCard() {
  const { moves, account } = useStore()
  const owner = account.value?.isOwner.value === true ? account.value.session.client : null
  return (
    <Card title="Moves of portfolios">
      <p class="muted">
        An institution’s admin proposes them for lost wallets. Approve one only if you know that both wallets
        are of the same person. A week later, “operate move --carry-out” has the enclave carry it out.
      </p>
      <MoveList
        query={moves}
        actions={({ from, to, isAccepted, effectiveAt }) => {
          if (owner === null) return []
          const canApprove = isAccepted && effectiveAt === null
          const approve = () => applyChange(owner, { kind: 'move', from, to, isApproved: true })
          const approval = { says: 'Approve', act: approve, leadsTo: OUTCOME }
          const withdrawal = { says: 'Withdraw', act: () => owner.withdrawMove({ from }) }
          return canApprove ? [approval, withdrawal] : [withdrawal]
        }}
      />
    </Card>
  )
}
