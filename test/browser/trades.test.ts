// Purchases and sales with their prices and gains, read from the chain, also after a reload: on a desk and on a phone.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations, overflowOf } from './support/accessibility.js'
import { newestOrder, order, useBrowserDesk } from './support/desk.js'
import { keptOf } from './support/kept.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk()
const SIZES = [
  ['desk', 'Ada', { viewport: { width: 1_440, height: 900 }, colorScheme: 'light' }],
  ['phone', 'Ben', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
] as const
/** A narrow and a common phone, and a desk. */
const WIDTHS = [320, 390, 1_440]
const SCHEMES = ['light', 'dark'] as const
const HASH = /0x[0-9a-f]{64}/

describe.each(SIZES)('on a %s', (size, name, options) => {
  let page: Page

  it('a trade shows its shares and its price, and a holding what it cost and gained', async () => {
    const { broker } = desk().sandbox
    page = await desk().visit(undefined, options)
    await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
    broker.price({ symbol: 'AAPL', price: '200.00' })
    await page.locator('[data-price=AAPL]', { hasText: '200.00' }).waitFor()
    await order(page, 'Buy', 'AAPL', '500')
    const bought = await newestOrder(page, 'SETTLED')
    await bought
      .locator('[data-test=fill]', { hasText: /^Bought 2\.\d+ AAPL at \d+\.\d\d, \d+\.\d\d USDC$/ })
      .waitFor()
    await page.locator('[data-average=AAPL]', { hasText: /^at \d+\.\d\d on average$/ }).waitFor()
    broker.price({ symbol: 'AAPL', price: '220.00' })
    await page.locator('[data-gain=AAPL]', { hasText: /^\+\d+\.\d\d \(\+\d+\.\d\d %\)$/ }).waitFor()
    await page.locator('[data-test=gains]', { hasText: /^\+\d+\.\d\d USDC gain$/ }).waitFor()
    await order(page, 'Sell', 'AAPL', '110')
    const sold = await newestOrder(page, 'SETTLED')
    await sold.locator('[data-test=fill]', { hasText: /^Sold 0\.\d+ AAPL at / }).waitFor()
    await page.locator('[data-test=gains]', { hasText: 'realised' }).waitFor()
    await page.getByText('Value over the last days').click()
    await page.getByRole('img', { name: /^Portfolio, last five days: .+ USDC$/ }).waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await overflowOf(page)).toBe(0)
    await screenshot(page, `trades-${size}`)
  })

  it('all of it is there again after a reload, once the portfolio is open', async () => {
    await page.reload()
    const sold = page.locator('.order').first()
    await sold.getByText('Open your portfolio to see the order’s content.').waitFor()
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await sold.getByRole('heading', { name: 'Sell AAPL for 110.00 USDC' }).waitFor()
    await sold.locator('[data-test=fill]', { hasText: /^Sold 0\.\d+ AAPL at / }).waitFor()
    const bought = page.locator('.order').nth(1)
    await bought.locator('[data-test=fill]', { hasText: /^Bought 2\.\d+ AAPL at / }).waitFor()
    await bought.locator('.order-head time', { hasText: /^\d\d:\d\d:\d\d$/ }).waitFor()
    await bought.getByText('Details').click()
    await bought.getByText(HASH).first().waitFor()
    await bought
      .getByText(/, transaction 0x[0-9a-f]{64}$/)
      .first()
      .waitFor()
    await bought.locator('[data-notice=filled]').waitFor()
    await page.locator('[data-test=gains]', { hasText: 'realised' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await overflowOf(page)).toBe(0)
    await bought.scrollIntoViewIfNeeded()
    await screenshot(page, `trades-again-${size}`)
  })

  it('an order that was refused, which the portfolio never had, is known at the next visit too', async () => {
    // It goes by itself, on a busy machine before the next look.
    const toast = page
      .locator('[data-test=toasts]')
      .getByText('Refused: Buy AAPL for 30,000.00 USDC')
      .waitFor()
    await Promise.all([toast, order(page, 'Buy', 'AAPL', '30000')])
    await newestOrder(page, 'REFUNDED')
    await page.locator('[data-test=result]', { hasText: '30,000.00 USDC refunded.' }).waitFor()
    await page.reload()
    const refused = page.locator('.order').first()
    await refused.getByText('Open your portfolio to see the order’s content.').waitFor()
    expect(await refused.getByText('is sealed to you').count()).toBe(0)
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await refused.getByRole('heading', { name: 'Buy AAPL for 30,000.00 USDC' }).waitFor()
    await refused.getByRole('status').getByText('Refused', { exact: true }).waitFor()
    await refused.getByText('above the largest amount').waitFor()
    expect(await findViolations(page)).toEqual([])
    await refused.scrollIntoViewIfNeeded()
    await screenshot(page, `refused-again-${size}`)
  })

  it('the portfolio fits every screen, light and dark', async () => {
    const { height } = options.viewport
    for (const width of WIDTHS) {
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height })
        await page.emulateMedia({ colorScheme })
        expect(await overflowOf(page)).toBe(0)
        expect(await findViolations(page)).toEqual([])
        await page.locator('[data-test=total]').scrollIntoViewIfNeeded()
        await screenshot(page, `portfolio-${width}-${colorScheme}`)
      }
    }
  })

  it('none of it is kept in the clear', async () => {
    const kept = (await keptOf(page)).filter((record) => /^(?:history|orders)\//.test(record))
    expect(kept).toHaveLength(2)
    // Their names have addresses. Ciphertext has a short match by chance.
    for (const record of kept)
      expect(record.replace(/^\S+ /, '')).not.toMatch(/AAPL|bought|BUY|0x[0-9a-f]{4}/)
    await page.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
