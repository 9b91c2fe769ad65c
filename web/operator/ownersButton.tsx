import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Account } from '../state/account.js'
import { useStore } from '../state/context.js'

interface OwnersButtonProps {
  readonly says: string
  /** Its purpose, for readers who do not see the row. */
  readonly subject: string
  readonly act: (account: Account) => Promise<unknown>
  readonly onDone: () => void
}

/** A change of one row. Hidden from everyone but the platform's owner. */
export function OwnersButton({ says, subject, act, onDone }: OwnersButtonProps) {
  const account = useStore().account.value
  const { busy, error, run } = useAction()
  if (account === null || account.isOwner.value !== true) return null
  const press = () =>
    run(async () => {
      await act(account)
      onDone()
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
