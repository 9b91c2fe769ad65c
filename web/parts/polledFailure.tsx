import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { isAsleep, polledFailureOf } from '../words/failures.js'
import { FailureWords } from './failureBox.js'

/** Whether the page says at its top that the server is out of reach, so that nothing below repeats it. */
export const SaidAbove = createContext(false)

/** Why something that the page asks for again and again is not answered; nothing for no error. */
export function PolledFailure({ error }: { error: unknown }) {
  const isSaid = useContext(SaidAbove)
  if (error === null || error === undefined || (isSaid && isAsleep(error))) return null
  return <FailureWords {...polledFailureOf(error)} />
}
