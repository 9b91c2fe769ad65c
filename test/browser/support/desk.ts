// A whole sandbox with its page, and people who use it in a browser.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { PublishedRulebook } from '../../../src/client/index.js'
import { publishDefaultRulebook } from '../../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js'
import { launchChromium, PATIENCE_MS, VIEWPORT } from './browser.js'

export interface BrowserDesk {
  readonly sandbox: Sandbox
  /** The page's. */
  readonly url: string
  readonly browser: Browser
  /** The copy of version 1, which no browser has published. */
  readonly copy: PublishedRulebook['copy']
  /** Errors in the pages' consoles, and refusals of the page's policy. */
  readonly complaints: string[]
  /** A page of a browser of its own, at an address. */
  visit(url?: string, options?: Parameters<Browser['newContext']>[0]): Promise<Page>
  /** The same, with a demo wallet connected. */
  visitAs(name: string): Promise<Page>
}

/** A fill comes within moments here, and a block every second. */
const QUICK_ENCLAVE = { FILL_WAIT: '1500ms', CONFIRM_POLL_INTERVAL: '100ms' }

/** For a test file; to be used inside of tests and hooks. */
export function useBrowserDesk(): () => BrowserDesk {
  const started: (() => Promise<void>)[] = []
  let desk: BrowserDesk | undefined
  beforeAll(async () => {
    const browser = await launchChromium()
    started.push(() => browser.close())
    const directory = await mkdtemp(join(tmpdir(), 'browser-desk-'))
    started.push(() => rm(directory, { recursive: true, force: true }))
    const sandbox = await startSandbox({
      directory,
      ports: { server: 0, rpc: 0, broker: 0, desk: 0 },
      enclaveSettings: QUICK_ENCLAVE,
      print: () => undefined,
    })
    started.push(() => sandbox.stop())
    const { copy } = await publishDefaultRulebook(sandbox, { allowWithdrawShares: true })
    desk = openDesk(sandbox, browser, copy)
  })
  afterAll(async () => {
    for (const stop of started.reverse()) await stop()
  })
  return () => {
    if (!desk) throw new Error('the desk opens before the first test, not before')
    return desk
  }
}

function openDesk(sandbox: Sandbox, browser: Browser, copy: BrowserDesk['copy']): BrowserDesk {
  const url = sandbox.info.deskUrl ?? ''
  const complaints: string[] = []
  async function visit(at = url, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context: BrowserContext = await browser.newContext({ viewport: VIEWPORT, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !isNetwork(message.text())) complaints.push(message.text())
    })
    await page.goto(at)
    return page
  }
  return {
    sandbox,
    url,
    browser,
    copy,
    complaints,
    visit,
    async visitAs(name) {
      const page = await visit()
      await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
      await page.getByRole('button', { name: 'Disconnect' }).waitFor()
      return page
    },
  }
}

/** The browser itself reports answers of 400 and more, and a server that is away: the page says these in words. */
function isNetwork(text: string): boolean {
  return text.startsWith('Failed to load resource')
}

/** Imports a copy of the rulebook in force, and waits until the form begins with it. */
export async function openCopy(page: Page, copy: unknown): Promise<void> {
  await importCopy(page, copy)
  await page.locator('[data-test=unknown-rules]').waitFor({ state: 'detached' })
}

/** Chooses a file as a copy of the rulebook in force, on the screen of the institution. */
export async function importCopy(page: Page, copy: unknown): Promise<void> {
  const file = { name: 'rulebook.json', mimeType: 'application/json' }
  const text = typeof copy === 'string' ? copy : JSON.stringify(copy)
  await page.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from(text) })
}

/** The newest order's card, once it stands in the state. */
export async function newestOrder(page: Page, state: 'SETTLED' | 'REFUNDED'): Promise<Locator> {
  const card = page.locator('.order').first()
  await page.locator(`.order:first-child[data-state=${state}]`).waitFor()
  return card
}

/** Fills the ticket in and sends it. */
export async function order(
  page: Page,
  side: 'Buy' | 'Sell' | 'Withdraw',
  symbol: string,
  amount: string,
  { payFrom }: { payFrom?: 'Wallet' | 'Portfolio cash' } = {},
) {
  await page.locator('.choice-row label', { hasText: side }).click()
  if (payFrom !== undefined) await page.locator('.choice-row label', { hasText: payFrom }).click()
  await page.locator('#ticket-symbol').selectOption(symbol)
  await page.locator('#ticket-amount').fill(amount)
  await page.getByRole('button', { name: `${side} ${symbol}`, exact: true }).click()
}
