// Purchases and sales with their prices and gains, read from the chain, also after a reload; a cancel; shares that were withdrawn, and their way back. On a desk and on a phone.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { pdfText } from '../support/pdfText.js'
import { expectFit, findViolations } from './support/accessibility.js'
import { deskAndPhone, newestOrder, order, useBrowserDesk } from './support/desk.js'
import { keptOf } from './support/kept.js'

const desk = useBrowserDesk({ pagesStay: true })
const amountOf = (page: Page) => page.locator('#ticket-amount')
const buttonOf = (page: Page) => page.locator('[data-test=place]')
const heldOf = (page: Page) => page.locator('[data-wallet-shares=AAPL]')
const hintOf = (page: Page) => page.locator('#ticket-amount-hint')

describe.each(deskAndPhone({ width: 320, height: 640 }))('on a %s', (_size, name, options) => {
  let page: Page

  it('a trade shows its shares and its price, and a holding what it cost and gained', async () => {
    const { broker } = desk().sandbox
    page = await desk().visitAs(name, options)
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
    await expectFit(page)
  })

  it('trades and holdings are there again after a reload, once the portfolio is open', async () => {
    await page.reload()
    const sold = page.locator('.order').first()
    await sold.getByText('Open your portfolio to see the order’s content.').waitFor()
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await sold.getByRole('heading', { name: 'Sell AAPL for 110.00 USDC' }).waitFor()
    await sold.locator('[data-test=fill]', { hasText: /^Sold 0\.\d+ AAPL at / }).waitFor()
    const bought = page.locator('.order').nth(1)
    await bought.locator('[data-test=fill]', { hasText: /^Bought 2\.\d+ AAPL at / }).waitFor()
    await bought.locator('.order-head time', { hasText: /^\d\d:\d\d:\d\d$/ }).waitFor()
    await page.locator('[data-test=gains]', { hasText: 'realised' }).waitFor()
    await expectFit(page)
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
  })

  it('a statement of the month is saved as a PDF with the trades and their gain', async () => {
    await page.getByText('Statements').click()
    await page.getByLabel('Month or year').waitFor()
    await expectFit(page)
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save the statement' }).click()
    const download = await saving
    expect(download.suggestedFilename()).toMatch(/^statement-\d{4}-\d\d\.pdf$/)
    const lines = pdfText(await readFile(await download.path())).flat()
    expect(lines.filter((line) => /^\d{4}-\d\d-\d\d (?:bought|sold) +AAPL /.test(line))).toHaveLength(2)
    expect(lines.find((line) => line.startsWith('Realised gain '))).toMatch(/ \d+\.\d\d+$/)
  })

  it('an order is cancelled while it is live at the broker, and its money comes back', async () => {
    const { broker } = desk().sandbox
    broker.fill({ mode: 'hold' })
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
    await newestOrder(page, 'REFUNDED')
    await card.getByRole('status').getByText('Cancelled', { exact: true }).waitFor()
    await card.locator('[data-notice=cancelled]').waitFor()
    await card.getByText('Server received your cancellation').waitFor()
    expect(await cancel.count()).toBe(0)
    await page.locator('[data-test=in-orders]').waitFor({ state: 'detached' })
    await expectFit(page)
    broker.clear({ what: 'fills' })
  })

  it('shares in the wallet are shown once they were withdrawn', async () => {
    await order(page, 'Buy', 'AAPL', '800')
    await newestOrder(page, 'SETTLED')
    expect(await heldOf(page).count()).toBe(0)
    await order(page, 'Withdraw', 'AAPL', '2.5')
    await newestOrder(page, 'SETTLED')
    await heldOf(page).getByText('2.5', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
  })

  it('shares in the wallet fill the ticket, which lets through what the wallet holds and no more', async () => {
    await page.getByRole('button', { name: 'Deposit the wallet’s AAPL' }).click()
    expect(await page.locator('#ticket-symbol').inputValue()).toBe('AAPL')
    expect(await amountOf(page).evaluate((element) => element === document.activeElement)).toBe(true)
    await hintOf(page).getByText('2.5 AAPL in the wallet.').waitFor()
    await amountOf(page).fill('2.6')
    await buttonOf(page).getByText('Not enough AAPL', { exact: true }).waitFor()
    expect(await buttonOf(page).isDisabled()).toBe(true)
    await hintOf(page).getByText('You have 2.5 AAPL in the wallet.').waitFor()
    await page.getByRole('button', { name: 'Max', exact: true }).click()
    expect(await amountOf(page).inputValue()).toBe('2.5')
    await page
      .locator('[data-test=review]', { hasText: 'Moves 2.5 AAPL from this wallet to your portfolio.' })
      .waitFor()
    await page.getByText('The platform does not pay for deposits of shares').waitFor()
    await expectFit(page)
  })

  it('shares in the wallet go into the portfolio, and are the wallet’s no more', async () => {
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

  it('no trade is kept in the clear by the browser', async () => {
    // The list by the escrow's events, whose name has two addresses, is public.
    const isOfTrades = (record: string) => /^(?:history\/|orders\/\d+\/0x[0-9a-f]{40} )/.test(record)
    const kept = (await keptOf(page)).filter(isOfTrades)
    expect(kept).toHaveLength(2)
    // Their names have addresses. Ciphertext has a short match by chance.
    for (const record of kept)
      expect(record.replace(/^\S+ /, '')).not.toMatch(/AAPL|bought|BUY|0x[0-9a-f]{4}/)
    await page.context().close()
  })
})
