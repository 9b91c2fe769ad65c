import { useCallback, useRef, useState } from 'preact/hooks'

/**
 * A value that ends with the session, and then is `fresh` again. What comes to a session that has ended changes nothing.
 * `fresh` must be the same from one render to the next.
 */
export function useOfSession<T>(
  session: object | null,
  fresh: T,
): readonly [value: T, change: (to: (before: T) => T) => void] {
  const [kept, setKept] = useState({ session, value: fresh })
  const current = useRef(session)
  current.current = session
  const change = useCallback(
    (to: (before: T) => T) => {
      if (current.current !== session) return
      setKept((before) => ({ session, value: to(before.session === session ? before.value : fresh) }))
    },
    [session, fresh],
  )
  return [kept.session === session ? kept.value : fresh, change]
}
