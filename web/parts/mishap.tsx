import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'

/** Replaces a page that failed while rendering, which would otherwise be blank. */
export function Mishap({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <main class="narrow">
      <div class="box box-bad" role="alert">
        <strong>This page has failed</strong>
        <p>
          Reload it. Orders at the server continue without it. If it fails again, allow your browser to store
          this page's data: the page needs it.
        </p>
      </div>
    </main>
  )
}
