import { type Failure, failureOf } from '../words/failures.js'

/** What a person started and went wrong, and what to do; nothing for no error. */
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
