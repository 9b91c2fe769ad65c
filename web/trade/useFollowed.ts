import { useEffect, useState } from 'preact/hooks'
import type { FollowOptions } from '../../src/client/index.js'

const AGAIN_MS = 4_000

/** The newest that a generator of the client yields; after a failure it begins again. `begin` must not change. */
export function useFollowed<T>(
  begin: (options: FollowOptions) => AsyncGenerator<T>,
  pollMs: number,
): {
  readonly value: T | null
  readonly error: unknown
} {
  const [state, setState] = useState<{ value: T | null; error: unknown }>({ value: null, error: null })
  useEffect(() => {
    const ended = new AbortController()
    let timer = 0
    const follow = async () => {
      try {
        for await (const value of begin({ signal: ended.signal, pollMs })) setState({ value, error: null })
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
  }, [begin, pollMs])
  return state
}
