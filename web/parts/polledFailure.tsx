import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { isAsleep, polledFailureOf } from '../words/failures.js'
import { FailureWords } from './failureBox.js'

/** Whether the top of the page already says that the server is unreachable, so the cards below do not repeat it. */
export const SaidAbove = createContext(false)

/** The failure of a poll; empty without an error. */
export function PolledFailure({ error }: { error: unknown }) {
  const isSaid = useContext(SaidAbove)
  if (error === null || error === undefined || (isSaid && isAsleep(error))) return null
  return <FailureWords {...polledFailureOf(error)} />
}
