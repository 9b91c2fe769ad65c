import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** What was answered last, and what went wrong since. */
export interface Polled<T> {
  readonly value: T | null
  readonly error: unknown
  /** Asks at once. */
  readonly refresh: () => void
}

/** Asks at once and then at an interval. `ask` must be the same function from one render to the next. */
export function usePolled<T>(ask: (signal: AbortSignal) => Promise<T>, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null })
  const begin = useRef(() => {})
  useEffect(() => {
    let current = new AbortController()
    let timer = 0
    const look = async (signal: AbortSignal) => {
      try {
        const value = await ask(signal)
        if (!signal.aborted) setState({ value, error: null })
      } catch (error) {
        if (!signal.aborted) setState(({ value }) => ({ value, error }))
      }
      if (!signal.aborted) timer = window.setTimeout(() => look(signal), everyMs)
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
    return end
  }, [ask, everyMs])
  return { ...state, refresh: useCallback(() => begin.current(), []) }
}
