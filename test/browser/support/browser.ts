import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { beforeAll, onTestFinished } from 'vitest'
import { chromiumPath } from './chromium.js'

/** Wide enough for a table, and a size that is read well in a document. */
export const VIEWPORT = { width: 1_280, height: 900 }

/** For one step of a page or the browser: on a busy machine each takes long, and still ends. Below the time of a test. */
export const PATIENCE_MS = 120_000

/** A page, and what it did since it was opened. */
export interface OpenPage {
  readonly page: Page
  /** Errors in the console, refusals of the page's policy among them, and uncaught errors. */
  readonly errors: readonly string[]
  /** The origins of all that it asked for over the network. */
  readonly origins: ReadonlySet<string>
}

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

/** Ends the pages of a test file. */
export async function closeContexts(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

/**
 * Chromium for a test file. What this returns opens a page in a profile of its own, closed with its test.
 *
 * @example
 * const open = useBrowser()
 * test('…', async () => {
 *   const { page, errors } = await open({ colorScheme: 'dark' })
 *   await page.goto(url)
 */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<OpenPage> {
  let browser: Browser
  beforeAll(async () => {
    browser = await useChromium()
  })

  return async (options) => {
    const context = await browser.newContext({ viewport: VIEWPORT, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    onTestFinished(() => context.close())
    return watch(await context.newPage())
  }
}

function watch(page: Page): OpenPage {
  const errors: string[] = []
  const origins = new Set<string>()
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    // Data inside a stylesheet goes over no network.
    if (protocol !== 'data:') origins.add(origin)
  })
  return { page, errors, origins }
}
