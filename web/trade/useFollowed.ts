import { useEffect, useRef, useState } from 'preact/hooks'
import type { FollowOptions } from '../../src/client/index.js'
import { useIsSeen } from '../hooks/useIsSeen.js'

const AGAIN_MS = 4_000

/**
 * The newest that a generator of the client yields; after a failure it begins again, and when somebody looks at the page
 * again, unless it has come to its end. `begin` must not change.
 */
export function useFollowed<T>(
  begin: (options: FollowOptions) => AsyncGenerator<T>,
  pollMs: number,
): {
  readonly value: T | null
  readonly error: unknown
} {
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null })
  const isSeen = useIsSeen()
  const completed = useRef<unknown>(null)
  useEffect(() => {
    if (!isSeen || completed.current === begin) return
    const ended = new AbortController()
    let timer = 0
    const follow = async () => {
      try {
        for await (const value of begin({ signal: ended.signal, pollMs })) setState({ value, error: null })
        if (!ended.signal.aborted) completed.current = begin
      } catch (error) {
        if (ended.signal.aborted) return
        setState(({ value }) => ({ value, error }))
        timer = window.setTimeout(follow, AGAIN_MS)
      }
    }
    follow()
    return () => {
      ended.abort()
      window.clearTimeout(timer)
    }
  }, [begin, pollMs, isSeen])
  return state
}
