// Data that only the page remembers.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page, Request, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { goTo, newestOrder, openCopy, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()

describe('the envelope of an open order', () => {
  it('stays through a start of the server that never had it, whose enclave begins without', async () => {
    const { sandbox } = desk()
    const page = await desk().visitAs('Cleo')
    await page.route('**/orders', refusePost)
    await order(page, 'Buy', 'AAPL', '80', { feePayer: 'Wallet pays' })
    await page.getByRole('alert').getByText('but the server does not have it yet').waitFor()
    await sandbox.server().kill()
    await sandbox.restartServer()
    const card = page.locator('.order').first()
    await openDetails(card)
    await card.getByText('Run 1 ended').waitFor()
    await card.getByText('Not submitted', { exact: true }).waitFor()
    // The page has tried by itself, until it gave up.
    await card.getByRole('button', { name: 'Submit it again' }).waitFor()
    await page.unroute('**/orders', refusePost)
    await card.getByRole('button', { name: 'Submit it again' }).click()
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
    await page.context().close()
  })

  it('is given again to a server that has lost what it had', async () => {
    const { sandbox } = desk()
    sandbox.broker.fill({ mode: 'hold' })
    const page = await desk().visitAs('Ben')
    await order(page, 'Buy', 'MSFT', '90')
    const card = page.locator('.order').first()
    await card.getByText('At the broker', { exact: true }).waitFor()
    expect(await card.getByRole('button', { name: 'Submit it again' }).count()).toBe(0)
    const again = page.waitForRequest((request) => isPost(request) && request.url().endsWith('/orders'))
    await sandbox.server().kill()
    await rm(join(sandbox.directory, 'server'), { recursive: true })
    await sandbox.restartServer()
    await again
    await card.getByText('At the broker', { exact: true }).waitFor()
    sandbox.broker.clear({ what: 'fills' })
    sandbox.broker.release({})
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
    await page.context().close()
  })
})

describe('a rulebook', () => {
  it('stays as it was written through a look elsewhere', async () => {
    const page = await desk().visitAs('Dana')
    await goTo(page, 'Institution')
    await openCopy(page, desk().copy)
    await page.getByLabel('Ben may trade TSLA').uncheck()
    await page.getByLabel('Largest order').fill('7,000')
    await lookElsewhere(page)
    await page.getByLabel('Ben may trade TSLA').waitFor()
    expect(await page.getByLabel('Ben may trade TSLA').isChecked()).toBe(false)
    expect(await page.getByLabel('Largest order').inputValue()).toBe('7,000')

    const { version, letGo } = await holdRulebook(page)
    await page.getByRole('button', { name: `Publish version ${version}` }).click()
    await page.getByRole('progressbar').waitFor()
    await lookElsewhere(page)
    await page.getByRole('progressbar').waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'Publishing…' }).isDisabled()).toBe(true)
    await goTo(page, 'Operator')
    const answered = page.waitForResponse('**/policy')
    letGo()
    await answered
    await goTo(page, 'Institution')
    await page.getByText(`Version ${version} is in force.`).waitFor()
    await page.getByText(`version ${version} is in force`, { exact: true }).waitFor()
    expect(await page.getByLabel('Ben may trade TSLA').isChecked()).toBe(false)
    await page.context().close()
  })

  it('of a wallet that has gone is not shown to the next', async () => {
    const page = await desk().visitAs('Dana')
    await goTo(page, 'Institution')
    await page.getByLabel('Largest order').fill('7,000')
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: /^Dana\b/ }).click()
    expect(await page.getByLabel('Largest order').inputValue()).toBe('')
    await page.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})

async function lookElsewhere(page: Page): Promise<void> {
  await goTo(page, 'Operator')
  await page.getByRole('heading', { name: 'Operator' }).waitFor()
  await goTo(page, 'Institution')
}

/** Holds back the rulebook that is published next, and tells which version it will be. */
async function holdRulebook(page: Page): Promise<{ version: number; letGo: () => void }> {
  const said = await page.locator('[data-test=version]').textContent()
  let letGo = () => {}
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/policy', async (route) => {
    await released
    await route.continue()
  })
  return { version: Number(/\d+/.exec(said ?? '')) + 1, letGo }
}

/** The server is not reached by an order, by everything else it is. */
const refusePost = (route: Route) => (isPost(route.request()) ? route.abort() : route.fallback())

const isPost = (request: Request) => request.method() === 'POST'

/** Open by itself where the card is listed with its order's name, which may come after the chain's word of it. */
const openDetails = (card: Locator) =>
  card.locator('details').evaluate((details) => details.setAttribute('open', ''))

const keptOrders = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('desk:order:')).length)
