import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFit } from './support/accessibility.js'
import { deskAndPhone, isPost, newestOrder, order, useBrowserDesk } from './support/desk.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk({ pagesStay: true })
const ETHER = `0x${(10n ** 18n).toString(16)}`
/** The quota of the wallet is used up. */
const noQuota = (route: Route) =>
  isPost(route) ? route.fulfill(problem(429, 'relay-quota-exhausted')) : route.fallback()

function problem(status: number, code: string) {
  return {
    status,
    headers: {
      'access-control-allow-origin': desk().url,
      'access-control-expose-headers': 'Retry-After',
      'retry-after': '3600',
    },
    contentType: 'application/problem+json',
    body: JSON.stringify({
      ...{ type: 'about:blank', status, title: 'Quota', code, quota: 'account' },
      ...{ detail: 'Used up.', instance: '/orders', requestId: 'a-request' },
    }),
  }
}

const unopenedOf = (page: Page) => page.locator('.order').first().locator('[data-test=unopened]')
const sentBy = (address: string) => desk().sandbox.provider.getTransactionCount(address)

describe.each(deskAndPhone())('on a %s', (size, name, options) => {
  let page: Page
  let address = ''

  it('a wallet without ether buys and sells on the page, and sends no transaction', async () => {
    const { provider } = desk().sandbox
    address = desk().sandbox.accounts.employees[size === 'desk' ? 0 : 1].address
    await provider.send('anvil_setBalance', [address, '0x0'])
    const before = await sentBy(address)
    page = await desk().visitAs(name, options)
    await page.locator('.choice-row label', { hasText: 'Platform pays' }).waitFor()
    await page.locator('#ticket-amount').fill('100')
    await page.getByText('What your wallet will ask: 4 requests').click()
    const asked = page.locator('.asked li')
    expect(await asked.allInnerTexts()).toEqual([
      expect.stringMatching(/^Signature\. Makes the key/),
      expect.stringMatching(/^Signature\. Shows that your wallet makes the same key again/),
      expect.stringMatching(/^Signature\. Is your order/),
      'Signature. Pays 100.00 USDC into the escrow. You get it back if the order is refused. The platform sends it and pays the network fee.',
    ])
    await screenshot(page, `asked-${size}`)
    await expectFit(page)
    await order(page, 'Buy', 'AAPL', '100')
    const bought = await newestOrder(page, 'SETTLED')
    await bought.getByText('Platform opens the escrow for you: confirmed').waitFor()
    await expectFit(page)
    await order(page, 'Sell', 'AAPL', '40')
    await page.locator('.order h3', { hasText: 'Sell AAPL for 40.00 USDC' }).waitFor()
    await newestOrder(page, 'SETTLED')
    expect(await sentBy(address)).toBe(before)
  })

  it('an order that the platform refuses can be opened by the wallet, after a reload too', async () => {
    await desk().sandbox.provider.send('anvil_setBalance', [address, ETHER])
    await page.route('**/orders', noQuota)
    await order(page, 'Buy', 'MSFT', '60')
    await page.getByRole('alert').getByText('Pay the network fee from your wallet, or try again').waitFor()
    await unopenedOf(page).getByText('the platform has not opened it. No money has moved.').waitFor()
    await expectFit(page)

    // A second signature could be used beside the first.
    await order(page, 'Buy', 'MSFT', '61')
    await page.getByRole('alert').getByText('An order that you signed can still be opened').waitFor()

    const posts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/orders')) posts.push(request.url())
    })
    await page.unroute('**/orders', noQuota)
    await page.reload()
    await unopenedOf(page).waitFor()
    expect(posts).toEqual([])
    const before = await sentBy(address)
    await unopenedOf(page).getByRole('button', { name: 'Pay the network fee myself' }).click()
    await newestOrder(page, 'SETTLED')
    expect((await sentBy(address)) - before).toBe(1)
  })
})
