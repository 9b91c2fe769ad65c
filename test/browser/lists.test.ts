// The page's lists of the chain's past: kept between visits, and honest about what is not read and why.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFit } from './support/accessibility.js'
import { deskAndPhone, goTo, seeNow, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
const rows = (page: Page) => page.locator('table.people tbody tr')
const state = (page: Page) => page.getByText(/^(?:Reading the|Looking for new) members/)

describe.each(deskAndPhone())('on a %s, the members', (_size, _name, options) => {
  let page: Page

  it('are shown at once on a second visit, while the page looks for new ones', async () => {
    page = await desk().visitAs('Dana', options)
    await goTo(page, 'Institution')
    // The admin, and three employees.
    await rows(page).nth(3).waitFor()
    await state(page).first().waitFor({ state: 'detached' })
    await page.reload()
    const letGo = await holdCalls(page, desk().sandbox.info.rpcUrl, 'eth_getLogs')
    await rows(page).nth(3).waitFor()
    await page.getByText('Looking for new members…').first().waitFor()
    await expectFit(page)
    letGo()
    await state(page).first().waitFor({ state: 'detached' })
  })

  it.each([
    [429, 'The chain’s node limits how often it is asked'],
    [504, 'The chain’s node is slow'],
    [503, 'The chain’s node cannot be reached'],
  ])('stay on the screen when the node answers %i, under a title that says: %s', async (status, title) => {
    const rpc = new URL(desk().sandbox.info.rpcUrl).origin
    const isLogs = (url: URL) => url.origin === rpc
    await page.route(isLogs, (route) =>
      route.request().postData()?.includes('eth_getLogs') ? route.fulfill({ status }) : route.fallback(),
    )
    const alert = page.getByRole('alert').getByText(title)
    await seeNow(page, alert.first())
    await page.getByText('goes on where it stopped').first().waitFor()
    expect(await rows(page).count()).toBe(4)
    await expectFit(page)
    await page.unroute(isLogs)
    await alert.first().waitFor({ state: 'detached' })
    if (status === 503) await page.context().close()
  })
})
