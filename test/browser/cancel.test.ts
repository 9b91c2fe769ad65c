// Orders that wait: what their cards and the portfolio say, and how they are cancelled. On a desk and on a phone.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFit, findViolations } from './support/accessibility.js'
import { deskAndPhone, newestOrder, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()

/** The newest order shows as cancelled, with its reason, and the money in open orders is gone. */
async function expectCancelled(page: Page): Promise<void> {
  const card = await newestOrder(page, 'REFUNDED')
  await card.getByRole('status').getByText('Cancelled', { exact: true }).waitFor()
  await card.locator('[data-notice=cancelled]').waitFor()
  await card.getByText('Server received your cancellation').waitFor()
  expect(await card.getByRole('button', { name: /^Cancel order/ }).count()).toBe(0)
  await page.locator('[data-test=in-orders]').waitFor({ state: 'detached' })
  expect(await findViolations(page)).toEqual([])
}

describe.each(deskAndPhone({ width: 320, height: 640 }))('on a %s, an order', (_size, name, options) => {
  it('is cancelled while it is live at the broker, and its money comes back', async () => {
    const page = await desk().visitAs(name, options)
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    desk().sandbox.broker.fill({ mode: 'hold' })
    await order(page, 'Buy', 'MSFT', '90')
    const card = page.locator('.order').first()
    await card.getByRole('status').getByText('At the broker', { exact: true }).waitFor()
    await card.getByText(/^Good until /).waitFor()
    await page.locator('[data-test=in-orders]', { hasText: '90.00' }).waitFor()
    const cancel = card.getByRole('button', { name: 'Cancel order Buy MSFT for 90.00 USDC' })
    await cancel.scrollIntoViewIfNeeded()
    await expectFit(page)
    await cancel.click()
    await card.locator('[data-test=cancelling]').waitFor()
    await expectCancelled(page)
    desk().sandbox.broker.clear({ what: 'fills' })
  })
})
