import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId } from 'preact/hooks'
import { type Failure, failureOf, isAsleep, isOfNode, polledFailureOf } from '../words/failures.js'

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

/** The failures of the chain's node that the parts of a screen have met, by part. */
const OfNode = createContext<Signal<ReadonlyMap<string, unknown>> | null>(null)

/** Tells each failure of the chain's node once for a whole screen, above it: all of its lists ask the same node. */
export function NodeFailures({ children }: { children: ComponentChildren }) {
  const met = useSignal<ReadonlyMap<string, unknown>>(new Map())
  const told = [...met.value.values()].map(polledFailureOf)
  return (
    <OfNode.Provider value={met}>
      {[...new Map(told.map((failure) => [failure.title, failure])).values()].map((failure) => (
        <FailureWords key={failure.title} {...failure} />
      ))}
      {children}
    </OfNode.Provider>
  )
}

/** The failure of a poll; empty without an error, and where the top of the screen tells it. */
export function PolledFailure({ error }: { error: unknown }) {
  const isSaid = useContext(SaidAbove)
  const met = useContext(OfNode)
  const part = useId()
  const isAbove = met !== null && error !== null && error !== undefined && isOfNode(error)
  useEffect(() => {
    if (!isAbove) return
    met.value = new Map(met.peek()).set(part, error)
    return () => {
      met.value = new Map([...met.peek()].filter(([other]) => other !== part))
    }
  }, [isAbove, error, met, part])
  if (error === null || error === undefined || isAbove || (isSaid && isAsleep(error))) return null
  return <FailureWords {...polledFailureOf(error)} />
}
