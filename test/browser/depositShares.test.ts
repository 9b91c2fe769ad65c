// Shares that were withdrawn: the wallet's own, and their way back into the portfolio, on a desk and on a phone.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations, overflowOf } from './support/accessibility.js'
import { deskAndPhone, newestOrder, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk({ pagesStay: true })

const amountOf = (page: Page) => page.locator('#ticket-amount')
const buttonOf = (page: Page) => page.locator('[data-test=place]')
const heldOf = (page: Page) => page.locator('[data-wallet-shares=AAPL]')
const hintOf = (page: Page) => page.locator('#ticket-amount-hint')

describe.each(deskAndPhone())('on a %s, shares in the wallet', (_size, name, options) => {
  let page: Page

  it('are shown once they were withdrawn', async () => {
    page = await desk().visitAs(name, options)
    await order(page, 'Buy', 'AAPL', '800')
    await newestOrder(page, 'SETTLED')
    expect(await heldOf(page).count()).toBe(0)
    await order(page, 'Withdraw', 'AAPL', '2.5')
    await newestOrder(page, 'SETTLED')
    await heldOf(page).getByText('2.5', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
  })

  it('fill the ticket, which lets through what the wallet holds and no more', async () => {
    await page.getByRole('button', { name: 'Deposit the wallet’s AAPL' }).click()
    expect(await page.locator('#ticket-symbol').inputValue()).toBe('AAPL')
    expect(await amountOf(page).evaluate((element) => element === document.activeElement)).toBe(true)
    await hintOf(page).getByText('2.5 AAPL in the wallet.').waitFor()
    await amountOf(page).fill('2.6')
    await buttonOf(page).getByText('Not enough AAPL', { exact: true }).waitFor()
    expect(await buttonOf(page).isDisabled()).toBe(true)
    await hintOf(page).getByText('You have 2.5 AAPL in the wallet.').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Max', exact: true }).click()
    expect(await amountOf(page).inputValue()).toBe('2.5')
    await page
      .locator('[data-test=review]', { hasText: 'Moves 2.5 AAPL from this wallet to your portfolio.' })
      .waitFor()
    await page.getByText('The platform does not pay for deposits of shares').waitFor()
    expect(await overflowOf(page)).toBe(0)
  })

  it('go into the portfolio, and are the wallet’s no more', async () => {
    await amountOf(page).fill('1.5')
    const toasts = page.locator('[data-test=toasts]')
    // Stage and toast are shown only briefly, so both are awaited before the click.
    await Promise.all([
      page.locator('[data-test=stages] [aria-current=step]').waitFor(),
      toasts.getByText('Settled: Deposit 1.5 AAPL').waitFor(),
      buttonOf(page).getByText('Deposit AAPL', { exact: true }).click(),
    ])
    await heldOf(page).getByText('1', { exact: true }).waitFor()
    expect(await page.locator('[data-test=stages]').getAttribute('data-stage')).toBe('done')
    await order(page, 'Deposit', 'AAPL', '1')
    await heldOf(page).waitFor({ state: 'detached' })
    await newestOrder(page, 'SETTLED')
    await amountOf(page).fill('1')
    await buttonOf(page).getByText('No AAPL to deposit', { exact: true }).waitFor()
  })

  it('are a deposit in the history after a reload too', async () => {
    await page.reload()
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await page.locator('.order').first().getByRole('heading', { name: 'Deposit 1 AAPL' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.context().close()
  })
})
