import { useCallback, useState } from 'preact/hooks'

/** Something that a person starts, one at a time. */
export interface Action {
  readonly busy: boolean
  readonly error: unknown
  /** Never rejects: resolves with whether it was done, and keeps what went wrong in `error`. */
  readonly run: (act: () => Promise<void>) => Promise<boolean>
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(async (act: () => Promise<void>) => {
    setBusy(true)
    setError(null)
    try {
      await act()
      return true
    } catch (failure) {
      setError(failure)
      return false
    } finally {
      setBusy(false)
    }
  }, [])
  return { busy, error, run }
}
