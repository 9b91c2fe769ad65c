import type { ComponentChildren } from 'preact'
import { failureOf } from '../words/failures.js'

/** What went wrong and what to do; nothing for no error. */
export function FailureBox({ error, children }: { error: unknown; children?: ComponentChildren }) {
  if (error === null || error === undefined) return null
  const { title, advice } = failureOf(error)
  return (
    <div class="box box-bad" role="alert">
      <strong>{title}</strong>
      <p>{advice}</p>
      {children}
    </div>
  )
}
