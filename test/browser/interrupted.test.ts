// Trades that are interrupted: the server stops, or the tab closes, while an order is on its way.
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { newestOrder, order, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
const stageOf = (page: Page, stage: string) => page.locator(`[data-test=stages][data-stage=${stage}]`)
const unopenedOf = (page: Page) => page.locator('.order').first().locator('[data-test=unopened]')
const isPost = (route: Route) => route.request().method() === 'POST'

/** The orders that the broker has, of any state. */
const placed = () => desk().sandbox.broker.orders().length

const keptOrders = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('desk:order:')).length)

/** Another tab of the same browser, whose wallet is connected again. */
async function reopen(page: Page, name: string): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(desk().url)
  await tab.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
  await tab.locator('.account').waitFor()
  return tab
}

/** Waits until the page's wallet has been asked for something. */
const askedFor = (page: Page, method: string) =>
  page.waitForRequest((request) => request.postData()?.includes(`"${method}"`) ?? false)

/** Buys, and loses the server while the wallet asks for what the method names. */
async function loseServer(page: Page, method: string, ...of: readonly [amount: string, payer?: FeePayer]) {
  const [amount, payer] = of
  const letGo = await holdCalls(page, desk().sandbox.info.rpcUrl, method)
  const asked = askedFor(page, method)
  await order(page, 'Buy', 'AAPL', amount, payer)
  await asked
  await desk().sandbox.server().kill()
  letGo()
}

type FeePayer = Parameters<typeof order>[4]
const WALLET_PAYS: FeePayer = { feePayer: 'Wallet pays' }

describe('a server that is lost between “Buy” and the order’s end', () => {
  it('before the order is signed has nothing sent, says so, and keeps what was typed', async () => {
    const { sandbox } = desk()
    const before = placed()
    const page = await desk().visitAs('Cleo')
    await loseServer(page, 'personal_sign', '69')
    // The top of the page says the same of its polls, sooner or later than the ticket.
    const alert = page.getByRole('alert').filter({ hasText: 'The order was not sent, and no money moved.' })
    await alert.getByText('The server does not answer').waitFor()
    expect(await findViolations(page)).toEqual([])
    await sandbox.restartServer()
    expect(await page.locator('#ticket-amount').inputValue()).toBe('69')
    await page.getByRole('button', { name: 'Buy AAPL', exact: true }).click()
    await newestOrder(page, 'SETTLED')
    expect(placed() - before).toBe(1)
    await page.context().close()
  })

  it.each([
    ['Ada', 'the platform pays', 'eth_signTypedData_v4', {}],
    ['Ben', 'the wallet pays', 'eth_sendTransaction', { feePayer: 'Wallet pays' }],
  ] as const)(
    '%s’s order goes on by itself once it is back, where %s',
    async (name, _who, method, options) => {
      const { sandbox } = desk()
      const before = placed()
      const page = await desk().visitAs(name)
      const letGo = await holdCalls(page, sandbox.info.rpcUrl, method)
      const asked = askedFor(page, method)
      await order(page, 'Buy', 'AAPL', '70', options)
      await asked
      await sandbox.server().kill()
      letGo()
      await page.getByText(/^Old prices, from/).waitFor()
      await page.locator('[data-test=place]', { hasText: 'Sending…' }).waitFor()
      expect(await findViolations(page)).toEqual([])
      await sandbox.restartServer()
      await newestOrder(page, 'SETTLED')
      await page.locator('[data-test=result]', { hasText: /^Bought 0\.\d+ AAPL/ }).waitFor()
      expect(placed() - before).toBe(1)
      await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
      await page.context().close()
    },
  )

  it('is said to be away once the page stops trying, and the order is sent again by its owner', async () => {
    const { sandbox } = desk()
    const before = placed()
    const page = await desk().visitAs('Cleo')
    const abort = (route: Route) => (isPost(route) ? route.abort() : route.fallback())
    await page.route('**/orders', abort)
    await order(page, 'Buy', 'AAPL', '71')
    await page.getByRole('alert').getByText('The server does not answer').first().waitFor()
    await unopenedOf(page).getByText('the platform has not opened it. No money has moved.').waitFor()
    await page.unroute('**/orders', abort)
    await sandbox.server().kill()
    await sandbox.restartServer()
    await unopenedOf(page).getByRole('button', { name: 'Send it again' }).click()
    await newestOrder(page, 'SETTLED')
    expect(placed() - before).toBe(1)
    await page.context().close()
  })
})

describe('a tab that is closed', () => {
  it('before its wallet has signed leaves no order', async () => {
    const page = await desk().visitAs('Ada')
    await holdCalls(page, desk().sandbox.info.rpcUrl, 'eth_signTypedData_v4')
    const asked = askedFor(page, 'eth_signTypedData_v4')
    await order(page, 'Buy', 'MSFT', '72')
    await asked
    await page.close()
    const tab = await reopen(page, 'Ada')
    await tab.locator('.order').first().waitFor()
    await tab.getByText('Reading earlier ones from the chain…').waitFor({ state: 'detached' })
    // The one that was settled before.
    expect(await tab.locator('.order').count()).toBe(1)
    expect(await keptOrders(tab)).toBe(0)
    await tab.context().close()
  })

  it('with a signed order that the platform has not got asks its owner at the next visit', async () => {
    const before = placed()
    const page = await desk().visitAs('Ben')
    await loseServer(page, 'eth_signTypedData_v4', '73')
    await stageOf(page, 'escrow').waitFor()
    await page.close()
    await desk().sandbox.restartServer()
    const tab = await reopen(page, 'Ben')
    await unopenedOf(tab).getByText('You signed this order').waitFor()
    expect(await findViolations(tab)).toEqual([])
    expect(placed()).toBe(before)
    await unopenedOf(tab).getByRole('button', { name: 'Send it again' }).click()
    await newestOrder(tab, 'SETTLED')
    expect(placed() - before).toBe(1)
    await tab.context().close()
  })

  it('with its escrow open has the order sent by itself at the next visit', async () => {
    const before = placed()
    const page = await desk().visitAs('Cleo')
    await loseServer(page, 'eth_sendTransaction', '74', WALLET_PAYS)
    await stageOf(page, 'sealed').waitFor()
    await page.close()
    await desk().sandbox.restartServer()
    const tab = await reopen(page, 'Cleo')
    await newestOrder(tab, 'SETTLED')
    expect(placed() - before).toBe(1)
    await expect.poll(() => keptOrders(tab), { timeout: PATIENCE_MS }).toBe(0)
    await tab.context().close()
  })

  it('after the server has the order changes nothing: the next visit shows its end', async () => {
    const { broker } = desk().sandbox
    const before = placed()
    broker.fill({ mode: 'hold' })
    const page = await desk().visitAs('Ada')
    await order(page, 'Buy', 'NVDA', '75')
    await page.locator('.order').first().getByText('At the broker', { exact: true }).waitFor()
    await page.close()
    broker.clear({ what: 'fills' })
    broker.release({})
    const tab = await reopen(page, 'Ada')
    await newestOrder(tab, 'SETTLED')
    await tab.getByRole('button', { name: 'Open my portfolio' }).click()
    await tab
      .locator('.order')
      .first()
      .getByText(/^Bought 0\.\d+ NVDA at/)
      .waitFor()
    expect(placed() - before).toBe(1)
    await tab.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
