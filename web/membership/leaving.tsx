import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Session } from '../wallet/session.js'
import { timeOfDay } from '../words/format.js'

/** That the wallet is leaving its institution, and when it has left; nothing for one that stays. */
export function LeavingNote({ leavingAt }: { leavingAt: number | null }) {
  if (leavingAt === null) return null
  const at = timeOfDay(new Date(leavingAt * 1_000).toISOString(), new Date())
  return (
    <p class="box" role="status" data-test="leaving">
      This wallet is leaving its institution, and has left at <b>{at}</b>. Until then the rulebook binds it,
      and it can sell and withdraw, but not buy.
    </p>
  )
}

interface LeaveProps {
  readonly session: Session
  readonly name: string
  readonly leavingAt: number | null
  readonly onDone: () => void
}

/** For a member: leaves by itself, whatever the admin wants. */
export function LeaveCard({ session, name, leavingAt, onDone }: LeaveProps) {
  const { busy, error, run } = useAction()
  const [asked, setAsked] = useState(false)
  const leave = () =>
    run(async () => {
      await session.client.membership.leave()
      setAsked(false)
      onDone()
    })
  if (leavingAt !== null) return <LeavingNote leavingAt={leavingAt} />
  return (
    <Card title="Leave">
      {asked ? (
        <>
          <p>
            There is no way back: from now on this wallet buys nothing, and after some days it has left {name}
            . Selling and withdrawing stay open.
          </p>
          <div class="row">
            <button type="button" class="primary" disabled={busy} onClick={leave}>
              {busy ? 'Leaving…' : `Leave ${name}`}
            </button>
            <button type="button" disabled={busy} onClick={() => setAsked(false)}>
              Stay
            </button>
          </div>
        </>
      ) : (
        <>
          <p class="muted">A wallet can leave by itself; it takes effect after some days.</p>
          <button type="button" class="quiet" onClick={() => setAsked(true)}>
            Leave this institution…
          </button>
        </>
      )}
      <FailureBox error={error} />
    </Card>
  )
}
