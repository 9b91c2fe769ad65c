import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Ask } from '../chain/remembered.js'
import { type Pace, paceAfter } from './pace.js'
import { useIsSeen } from './useIsSeen.js'

/** What was answered last, and what went wrong since. */
export interface Polled<T> {
  readonly value: T | null
  /** Whether there was an answer, which may itself be null. */
  readonly answered: boolean
  readonly error: unknown
  /** Asks at once. */
  readonly refresh: () => void
}

type State<T> = Pick<Polled<T>, 'value' | 'answered' | 'error'>

/**
 * Asks at once and then at a pace, as long as somebody may look at the page. `ask` and `pace` must be the same functions
 * from one render to the next: another `ask` is another question, to which nothing has been answered yet.
 */
export function usePolled<T>(ask: Ask<T>, pace: Pace<T>): Polled<T> {
  const [{ of, state }, setLast] = useState({ of: ask, state: unanswered<T>() })
  const begin = useRef(() => {})
  const isSeen = useIsSeen()
  useEffect(() => {
    if (!isSeen) return
    let current = new AbortController()
    let timer = 0
    const tellOf = (signal: AbortSignal) => (value: T) => {
      if (signal.aborted) return
      setLast((last) =>
        last.of === ask && last.state.answered && last.state.value === value
          ? last
          : { of: ask, state: { value, answered: true, error: null } },
      )
    }
    const look = async (signal: AbortSignal) => {
      let pauseMs: number
      try {
        const value = await ask(signal, tellOf(signal))
        if (!signal.aborted) setLast({ of: ask, state: { value, answered: true, error: null } })
        pauseMs = paceAfter(pace, value, null)
      } catch (error) {
        pauseMs = paceAfter(pace, null, error)
        if (!signal.aborted)
          setLast((last) => ({
            of: ask,
            state: { ...(last.of === ask ? last.state : unanswered<T>()), error },
          }))
      }
      if (!signal.aborted) timer = window.setTimeout(() => look(signal), pauseMs)
    }
    const end = () => {
      current.abort()
      window.clearTimeout(timer)
    }
    begin.current = () => {
      end()
      current = new AbortController()
      look(current.signal)
    }
    begin.current()
    return () => {
      end()
      // Whoever kept `refresh` may still call it: nobody would end what it began.
      begin.current = () => {}
    }
  }, [ask, pace, isSeen])
  const refresh = useCallback(() => begin.current(), [])
  return { ...(of === ask ? state : unanswered<T>()), refresh }
}

function unanswered<T>(): State<T> {
  return { value: null, answered: false, error: null }
}
