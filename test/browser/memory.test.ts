// What the page has to remember, as nobody else does.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newestOrder, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()

describe('the envelope of an open order', () => {
  it('stays through a start of the server that never had it, whose enclave begins without', async () => {
    const { sandbox } = desk()
    const page = await desk().visitAs('Cleo')
    await page.route('**/orders', refusePost)
    await order(page, 'Buy', 'AAPL', '80')
    await page.getByRole('alert').getByText('but the server does not have it yet').waitFor()
    await page.unroute('**/orders', refusePost)
    await sandbox.server().kill()
    await sandbox.restartServer()
    const card = page.locator('.order').first()
    await openDetails(card)
    await card.getByText('Run 1 ended').waitFor()
    await card.getByText('Not submitted', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Submit it again' }).click()
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => keptOrders(page)).toBe(0)
    await page.context().close()
  })

  it('is given again to a server that has lost what it had', async () => {
    const { sandbox } = desk()
    sandbox.broker.fill({ mode: 'hold' })
    const page = await desk().visitAs('Ben')
    await order(page, 'Buy', 'MSFT', '90')
    const card = page.locator('.order').first()
    await card.getByText('At the market', { exact: true }).waitFor()
    expect(await card.getByRole('button', { name: 'Submit it again' }).count()).toBe(0)
    await sandbox.server().kill()
    await rm(join(sandbox.directory, 'server'), { recursive: true })
    await sandbox.restartServer()
    await card.getByRole('button', { name: 'Submit it again' }).click()
    await card.getByRole('button', { name: 'Submit it again' }).waitFor({ state: 'detached' })
    await card.getByText('At the market', { exact: true }).waitFor()
    sandbox.broker.clear({ what: 'fills' })
    sandbox.broker.release({})
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => keptOrders(page)).toBe(0)
    await page.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})

/** The server is not reached by an order, by everything else it is. */
const refusePost = (route: Route) => (route.request().method() === 'POST' ? route.abort() : route.fallback())

/** Open by itself where the card is listed with its order's name, which may come after the chain's word of it. */
const openDetails = (card: Locator) =>
  card.locator('details').evaluate((details) => details.setAttribute('open', ''))

const keptOrders = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('desk:order:')).length)
