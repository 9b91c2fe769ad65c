import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from './chromium.js'

/** Wide enough for a table, and a size that is read well in a document. */
export const VIEWPORT = { width: 1_280, height: 900 }

/** For one step of a page or the browser: on a busy machine each takes long, and still ends. Below the time of a test. */
export const PATIENCE_MS = 200_000

let started: Promise<Browser> | undefined

/**
 * The machine's own Chromium, one for all files of a worker, with which it ends. Each file closes its contexts.
 * @throws NoChromiumError
 */
export async function useChromium(): Promise<Browser> {
  const browser = await started
  if (browser?.isConnected()) return browser
  started = chromium.launch({ executablePath: chromiumPath(process.env), timeout: PATIENCE_MS })
  return started
}
