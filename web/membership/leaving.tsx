import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { timeOfDay } from '../words/format.js'

/** Shows that the wallet is leaving its institution, and when; empty for a wallet that stays. */
export function LeavingNote({ leavingAt }: { leavingAt: number | null }) {
  if (leavingAt === null) return null
  const at = timeOfDay(new Date(leavingAt * 1_000).toISOString(), new Date())
  return (
    <p class="box box-warn" role="status" data-test="leaving">
      This wallet leaves its institution at <b>{at}</b>. Until then the rulebook still applies, and you can
      sell and withdraw, but not buy.
    </p>
  )
}

interface LeaveProps {
  readonly name: string
  readonly leavingAt: number | null
}

/** For a member: leaves without the admin's consent. */
export function LeaveCard({ name, leavingAt }: LeaveProps) {
  const { session, view } = useAccount()
  const { busy, error, run } = useAction()
  const [asked, setAsked] = useState(false)
  const leave = () =>
    run(async () => {
      await session.client.leaveInstitution()
      setAsked(false)
      view.refresh()
    })
  if (leavingAt !== null) return <LeavingNote leavingAt={leavingAt} />
  return (
    <Card title="Leave">
      {asked ? (
        <>
          <p>
            This cannot be undone. You can no longer buy as a member of {name}, and your membership ends in a
            few days. You can always sell and withdraw.
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
          <p class="muted">You can leave at any time; leaving takes effect after some days.</p>
          <button type="button" class="quiet" onClick={() => setAsked(true)}>
            Leave this institution…
          </button>
        </>
      )}
      <FailureBox error={error} />
    </Card>
  )
}
