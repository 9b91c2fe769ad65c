import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'

/** Stands in for a page that failed while it was drawn, which would be blank otherwise. */
export function Mishap({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <main class="narrow">
      <div class="box box-bad" role="alert">
        <strong>This page has failed</strong>
        <p>
          Reload it. Orders that the server has go on without it. If it fails again, let your browser keep
          data of this page: it does not work without.
        </p>
      </div>
    </main>
  )
}
