// A whole sandbox with its page, and people who use it in a browser.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Locator, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import type { PublishedRulebook } from '../../../src/client/admin.js'
import { publishDefaultRulebook } from '../../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js'
import type { SandboxOptions } from '../../../src/sandbox/settings.js'
import { QUICK } from '../../support/tradingSandbox.js'
import { PATIENCE_MS, useChromium, VIEWPORT } from './browser.js'
import { keptOf } from './kept.js'

/** A desk's screen, a phone, and the narrowest phone, each by day or in the dark. */
export const SIZES = [
  { name: '1440-light', options: { viewport: { width: 1_440, height: 900 } } },
  { name: '1440-dark', options: { viewport: { width: 1_440, height: 900 }, colorScheme: 'dark' } },
  { name: '390-light', options: { viewport: { width: 390, height: 844 } } },
  { name: '390-dark', options: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } },
  { name: '320-light', options: { viewport: { width: 320, height: 640 } } },
] as const

/** A desk by day and a phone in the dark, each with an employee of its own. */
export function deskAndPhone(phone = { width: 390, height: 844 }) {
  return [
    ['desk', 'Ada', { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' }],
    ['phone', 'Ben', { viewport: phone, colorScheme: 'dark' }],
  ] as const
}

/**
 * For a test file; to be used inside of tests and hooks. The first failure ends the file, as its parts build on each other. An error in a
 * page's console is one. A page is closed with the test that opened it, unless `pagesStay`.
 */
export function useBrowserDesk({
  pagesStay = false,
  ...options
}: Pick<SandboxOptions, 'keys'> & { pagesStay?: boolean } = {}): () => BrowserDesk {
  const started: (() => Promise<void>)[] = []
  let desk: BrowserDesk | undefined
  let hasFailed = false
  beforeEach(({ skip }) => skip(hasFailed, 'an earlier part has failed'))
  afterEach(({ task }) => {
    const { complaints = [] } = desk ?? {}
    hasFailed ||= task.result?.state === 'fail' || complaints.length > 0
    expect(complaints).toEqual([])
  })
  beforeAll(async () => {
    const browser = await useChromium()
    started.push(async () => {
      for (const context of browser.contexts()) await context.close()
    })
    const directory = await mkdtemp(join(tmpdir(), 'browser-desk-'))
    started.push(() => rm(directory, { recursive: true, force: true }))
    const sandbox = await startSandbox({
      ...options,
      directory,
      ports: { server: 0, rpc: 0, broker: 0, desk: 0 },
      blockTime: QUICK.blockTime,
      serverSettings: QUICK.server,
      enclaveSettings: QUICK.enclave,
      print: () => undefined,
    })
    started.push(() => sandbox.stop())
    const { copy } = await publishDefaultRulebook(sandbox)
    desk = openDesk(sandbox, browser, copy, pagesStay)
  })
  afterAll(async () => {
    for (const stop of started.reverse()) await stop()
  })
  return () => {
    if (!desk) throw new Error('the desk opens before the first test, not before')
    return desk
  }
}

export type BrowserDesk = ReturnType<typeof openDesk>

function openDesk(sandbox: Sandbox, browser: Browser, copy: PublishedRulebook['copy'], pagesStay: boolean) {
  /** The page's. */
  const url = sandbox.info.deskUrl ?? ''
  /** Errors in the pages' consoles, and refusals of the page's policy. */
  const complaints: string[] = []
  /** A page of a browser of its own, at an address. */
  async function visit(at = url, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: VIEWPORT, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const close = () => context.close()
    // A route's answer may be under way, or the page closed.
    if (!pagesStay) onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }).then(close, close))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !isNetwork(message.text())) complaints.push(message.text())
    })
    await page.goto(at)
    return page
  }
  return {
    ...{ sandbox, url, complaints, visit },
    /** The copy of version 1, which no browser has published. */
    copy,
    /** The same as `visit`, with a demo wallet connected. */
    async visitAs(name: string, options?: Parameters<typeof visit>[1]): Promise<Page> {
      const page = await visit(url, options)
      await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
      await page.locator('.account').waitFor()
      return page
    },
  }
}

/** Goes to one of the page's places. Until it is there, the place before may have fields of the same names. */
export async function goTo(page: Page, place: 'Desk' | 'Institution' | 'Operator'): Promise<void> {
  const link = page
    .getByRole('navigation', { name: 'Places' })
    .getByRole('link', { name: place, exact: true })
  await link.click()
  await link.and(page.locator('[aria-current=page]')).waitFor()
}

/** The person comes back to the tab until it shows that: the page asks again at once then, and not at its next poll. */
export async function seeNow(page: Page, wanted: Locator): Promise<void> {
  const isSeen = async () => {
    await setHidden(page, true, false)
    return wanted.isVisible()
  }
  await expect.poll(isSeen, { timeout: PATIENCE_MS, interval: 1_000 }).toBe(true)
}

/** The person turns to another tab, or comes back, one after the other. */
export function setHidden(page: Page, ...hidden: readonly boolean[]): Promise<void> {
  return page.evaluate((values) => {
    for (const value of values) {
      Object.defineProperty(document, 'hidden', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  }, hidden)
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
  await page.getByLabel('Import the copy from').setInputFiles({ ...file, buffer: Buffer.from(text) })
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
  side: 'Buy' | 'Sell' | 'Deposit' | 'Withdraw',
  symbol: string,
  amount: string,
  { payFrom, feePayer }: { payFrom?: 'Wallet' | 'Portfolio cash'; feePayer?: 'Wallet pays' } = {},
) {
  await page.locator('.choice-row label', { hasText: side }).click()
  if (payFrom !== undefined)
    await page.locator('.choice-row label', { hasText: new RegExp(`^${payFrom}$`) }).click()
  if (feePayer !== undefined) await page.locator('.choice-row label', { hasText: feePayer }).click()
  await page.locator('#ticket-symbol').selectOption(symbol)
  await page.locator('#ticket-amount').fill(amount)
  await page.getByRole('button', { name: `${side} ${symbol}`, exact: true }).click()
}

export const isPost = (route: Route): boolean => route.request().method() === 'POST'

/** The server is not reached by an order, by everything else it is. */
export const refusePost = (route: Route): Promise<void> => (isPost(route) ? route.abort() : route.fallback())

/** How many orders the browser keeps, since it does not know that they have ended. */
export const keptOrders = async (page: Page): Promise<number> =>
  (await keptOf(page)).filter((text) => text.includes('"service-kept-order-v1"')).length

/** Kills the tab's process, as a crash or the system does: nothing in it runs any more. */
export async function killTab(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const crashed = page.waitForEvent('crash')
  // The tab dies before it can answer.
  void session.send('Page.crash').catch(() => undefined)
  await crashed
}
