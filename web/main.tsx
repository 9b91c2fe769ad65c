import './jitless.js'
import { type ComponentChildren, render } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { App } from './app.js'
import { loadSettings } from './settings.js'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no #app element')
const settings = await loadSettings().catch(() => null)
if (settings === null) {
  root.textContent = 'The desk is not set up: desk.json beside this page is missing or malformed.'
} else {
  render(
    <Mishap>
      <App settings={settings} />
    </Mishap>,
    root,
  )
}

/** Replaces a page that failed while rendering, which would otherwise be blank. */
function Mishap({ children }: { children: ComponentChildren }) {
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
