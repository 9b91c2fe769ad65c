import { useCallback, useState } from 'preact/hooks'

/** An operation that the user starts, one at a time. */
export interface Action {
  readonly busy: boolean
  readonly error: unknown
  /** Never rejects: resolves with whether it succeeded, and keeps the failure in `error`. */
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
