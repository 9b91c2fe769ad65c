import { type Failure, failureOf } from '../words/failures.js'

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
