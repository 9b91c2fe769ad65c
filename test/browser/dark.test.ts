// The screens that the other tests see by day, in the dark and on a phone.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations, overflowOf } from './support/accessibility.js'
import { newestOrder, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()

async function darkPageOf(name: string): Promise<Page> {
  const page = await desk().visit(undefined, {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
  })
  await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
  return page
}

/** The screen is readable, and no wider than the phone. */
async function expectReadable(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
  expect(await overflowOf(page)).toBe(0)
}

describe('in the dark, a wallet', () => {
  it('in no institution founds one, and waits', async () => {
    const page = await darkPageOf('Otto')
    await page.getByLabel('Institution name').waitFor()
    await expectReadable(page)
    await page.getByLabel('Institution name').fill('Example Capital')
    await page.getByRole('button', { name: 'Create institution' }).click()
    await page.getByRole('alert').getByText('An institution with this name already exists').waitFor()
    await expectReadable(page)
    await page.getByLabel('Institution name').fill('Night Capital')
    await page.getByRole('button', { name: 'Create institution' }).click()
    await page.getByRole('heading', { name: 'Almost there' }).waitFor()
    await page
      .getByText('To be admitted, give the operator the institution’s name and your address.')
      .waitFor()
    await expectReadable(page)
    await page.context().close()
  })

  it('reads why its order was refused', async () => {
    const page = await darkPageOf('Ben')
    await order(page, 'Buy', 'AAPL', '30,000')
    const card = await newestOrder(page, 'REFUNDED')
    await card.getByText('above the largest amount that your institution allows').waitFor()
    await expectReadable(page)
    await page.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
