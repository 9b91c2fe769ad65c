import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Failure, failureOf, isAsleep, polledFailureOf } from '../words/failures.js'

/** The failure of a user's action, with advice; empty without an error. */
export function FailureBox({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <FailureWords {...failureOf(error)} />
}

export function FailureWords({ title, advice }: Failure) {
  return (
    <div class="box box-bad" role="alert">
      <strong>{title}</strong>
      <p>{advice}</p>
    </div>
  )
}

/** Whether the top of the page already says that the server is unreachable, so the cards below do not repeat it. */
export const SaidAbove = createContext(false)

/** The failure of a poll; empty without an error. */
export function PolledFailure({ error }: { error: unknown }) {
  const isSaid = useContext(SaidAbove)
  if (error === null || error === undefined || (isSaid && isAsleep(error))) return null
  return <FailureWords {...polledFailureOf(error)} />
}
