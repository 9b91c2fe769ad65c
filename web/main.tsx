import './jitless.js'
import { render } from 'preact'
import { App } from './app.js'
import { loadSettings } from './settings.js'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the desk')
try {
  render(<App settings={await loadSettings()} />, root)
} catch {
  root.textContent = 'The desk is not set up: desk.json beside this page is missing or malformed.'
}
