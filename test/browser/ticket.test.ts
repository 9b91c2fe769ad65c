// The ticket on a desk and on a phone: what it lets through, how it says no, and how an order goes on.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations, overflowOf } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { deskAndPhone, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk({ pagesStay: true })
const NARROWEST = { width: 320, height: 640 }
/** The one that a phone has bought before comes last: its holding is there already. */
const SYMBOLS = ['TSLA', 'NVDA', 'MSFT', 'AAPL']

const amountOf = (page: Page) => page.locator('#ticket-amount')
const buttonOf = (page: Page) => page.locator('[data-test=place]')
const stagesOf = (page: Page) => page.locator('[data-test=stages]')

/** The amount is refused: the button says why, and the field is described by the reason. */
async function expectRefused(page: Page, brief: string, says: string): Promise<void> {
  await buttonOf(page).getByText(brief, { exact: true }).waitFor()
  expect(await buttonOf(page).isDisabled()).toBe(true)
  const amount = amountOf(page)
  expect(await amount.getAttribute('aria-invalid')).toBe('true')
  const hint = page.locator(`#${await amount.getAttribute('aria-describedby')}`)
  expect(await hint.textContent()).toContain(says)
  expect(await redOf(hint)).toBe(true)
}

/** Whether a text is more red than anything else. */
function redOf(text: Locator): Promise<boolean> {
  return text.evaluate((element) => {
    const [red = 0, green = 0, blue = 0] = getComputedStyle(element).color.match(/\d+/g)?.map(Number) ?? []
    return red > green + 40 && red > blue + 40
  })
}

/** How many buttons, links and fields reach beyond the screen's edges. */
function clippedOf(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button, a, input, select, .tag, td, th')]
      .filter((element) => !element.classList.contains('skip') && element.checkVisibility())
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect()
        return width > 2 && (left < -1 || right > innerWidth + 1)
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  )
}

/** Whether an element is on the screen, and not behind the places at the bottom of a phone. */
const inView = (locator: Locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    const places = document.querySelector('.top nav')
    const isBelow = places !== null && getComputedStyle(places).position === 'fixed'
    return top >= 0 && bottom <= (isBelow ? places.getBoundingClientRect().top : innerHeight)
  })

describe.each(deskAndPhone())('on a %s, the ticket', (size, name, options) => {
  let page: Page

  it('says on its button and at its field what cannot go through, until it is changed', async () => {
    page = await desk().visitAs(name, options)
    await buttonOf(page).getByText('Enter an amount', { exact: true }).waitFor()
    expect(await inView(buttonOf(page))).toBe(true)
    await page.getByText('USDC in the wallet.').waitFor()
    await amountOf(page).fill('60,000')
    await expectRefused(page, 'Not enough USDC', 'USDC in the wallet.')
    expect(await findViolations(page)).toEqual([])
    await amountOf(page).fill('0.5')
    await expectRefused(page, 'Check the amount', 'Enter at least 1 USDC.')
    await amountOf(page).fill('600')
    await buttonOf(page).getByText('Buy AAPL', { exact: true }).waitFor()
    expect(await amountOf(page).getAttribute('aria-invalid')).toBe('false')

    await page.locator('.choice-row label', { hasText: 'Sell' }).click()
    await page.locator('#ticket-symbol').selectOption('TSLA')
    await amountOf(page).fill('10')
    // Nothing is known of a portfolio that is not open.
    await buttonOf(page).getByText('Sell TSLA', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await buttonOf(page).getByText('No TSLA to sell', { exact: true }).waitFor()
  })

  // test/browser/desk.test.ts trades on a desk.
  if (size === 'phone') {
    it('takes parts of what there is, and shares, and says what they come to', async () => {
      await page.locator('.choice-row label', { hasText: 'Buy' }).click()
      await page.locator('#ticket-symbol').selectOption('AAPL')
      await page.getByRole('button', { name: 'Max', exact: true }).click()
      const all = Number(await amountOf(page).inputValue())
      expect(all).toBeGreaterThan(1_000)
      await page.getByRole('button', { name: '25 %', exact: true }).click()
      expect(Number(await amountOf(page).inputValue())).toBeCloseTo(all / 4, 1)
      await page.getByRole('button', { name: 'Shares', exact: true }).click()
      expect(await amountOf(page).inputValue()).toBe('')
      await amountOf(page).fill('2')
      await page.locator('[data-test=review]', { hasText: 'come to' }).waitFor()
      await page
        .locator('[data-test=review]', { hasText: 'The order is for this amount: if the price changes' })
        .waitFor()
      await page.getByRole('button', { name: 'USDC', exact: true }).click()
    })

    it('shows the stages of an order, and toasts when it was sent and when it has ended', async () => {
      await amountOf(page).fill('120')
      await page.locator('[data-test=review]', { hasText: 'Buys about' }).waitFor()
      const toasts = page.locator('[data-test=toasts]')
      const sent = toasts.getByText('Order sent: Buy AAPL for 120.00 USDC').waitFor()
      await buttonOf(page).click()
      await Promise.all([sent, stagesOf(page).locator('[aria-current=step]').waitFor()])
      await expect.poll(() => inView(stagesOf(page)), { timeout: PATIENCE_MS }).toBe(true)
      expect(await stagesOf(page).getByText('usually').count()).toBe(0)
      await toasts.getByText('Settled: Buy AAPL for 120.00 USDC').waitFor()
      await page.locator('[data-test=stages][data-stage=done]').waitFor()
      const bought = /^Bought 0\.\d+ AAPL at \d+\.\d\d, \d+\.\d\d USDC\.$/
      await page.locator('[data-test=result]', { hasText: bought }).waitFor()
      expect(
        await stagesOf(page)
          .getByText(/^\d+\.\d s$/)
          .count(),
      ).toBeGreaterThan(2)
      expect(await findViolations(page)).toEqual([])
      await amountOf(page).fill('1')
      await stagesOf(page).waitFor({ state: 'detached' })
    })
  }

  it('is in view with four holdings, and “Trade” comes to it', async () => {
    for (const symbol of SYMBOLS) {
      await order(page, 'Buy', symbol, '50')
      await page.locator(`[data-holding=${symbol}]`).waitFor()
    }
    await page.locator('.choice-row label', { hasText: 'Withdraw' }).click()
    await page.getByRole('button', { name: 'Trade MSFT' }).click()
    expect(await page.locator('#ticket-symbol').inputValue()).toBe('MSFT')
    await buttonOf(page).getByText('Enter an amount', { exact: true }).waitFor()
    expect(await amountOf(page).evaluate((element) => element === document.activeElement)).toBe(true)
    await expect.poll(() => inView(amountOf(page)), { timeout: PATIENCE_MS }).toBe(true)
    await page.evaluate(() => scrollTo(0, 0))
    expect(await inView(buttonOf(page))).toBe(true)
    expect(await findViolations(page)).toEqual([])
  })

  it('clips nothing at 320 pixels, under a header of one line', async () => {
    await page.setViewportSize(NARROWEST)
    await page.getByRole('button', { name: 'MSFT chart' }).click()
    await page.getByRole('img', { name: /^MSFT, last five days: / }).waitFor()
    expect(await overflowOf(page)).toBe(0)
    expect(await clippedOf(page)).toEqual([])
    expect(await page.locator('.top').evaluate((element) => element.clientHeight)).toBeLessThan(60)
    expect(await page.locator('[data-test=clock]').getByText('closes in').isVisible()).toBe(true)
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'MSFT chart' }).click()
    await page.locator('.account-name').click()
    await page.getByRole('button', { name: 'Disconnect' }).waitFor()
    expect(await clippedOf(page)).toEqual([])
    await page.context().close()
  })
})
