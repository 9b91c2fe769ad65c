// Purchases and sales with their prices and gains, read from the chain, also after a reload: on a desk and on a phone.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { pdfText } from '../support/pdfText.js'
import { expectFit, findViolations } from './support/accessibility.js'
import { deskAndPhone, newestOrder, order, useBrowserDesk } from './support/desk.js'
import { keptOf } from './support/kept.js'

const desk = useBrowserDesk({ pagesStay: true })

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

  it('none of it is kept in the clear', async () => {
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
