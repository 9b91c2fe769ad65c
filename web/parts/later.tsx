import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A component whose code loads when it is first shown, so that the first screen does not wait for it. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Later(props: P) {
    const [Shown, setShown] = useState(() => loaded)
    const [hasFailed, setHasFailed] = useState(false)
    useEffect(() => {
      if (Shown !== null) return
      load().then(
        (component) => {
          loaded = component
          setShown(() => component)
        },
        () => setHasFailed(true),
      )
    }, [Shown])
    if (Shown !== null) return <Shown {...props} />
    return hasFailed ? (
      <p class="box box-bad" role="alert">
        This part of the page did not load. Check your connection, and reload the page.
      </p>
    ) : (
      <p class="muted">Loading…</p>
    )
  }
}
