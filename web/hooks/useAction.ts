import { useCallback, useState } from 'preact/hooks'

/** Something that a person starts, one at a time. */
export interface Action {
  readonly busy: boolean
  readonly error: unknown
  readonly run: (act: () => Promise<void>) => Promise<void>
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(async (act: () => Promise<void>) => {
    setBusy(true)
    setError(null)
    try {
      await act()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }, [])
  return { busy, error, run }
}
