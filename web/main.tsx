import './jitless.js'
import { render } from 'preact'
import { App } from './app.js'
import { Mishap } from './parts/mishap.js'
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
