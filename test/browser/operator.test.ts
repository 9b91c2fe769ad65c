// The operator's screen: readiness, events with times, listings and freezes.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { readinessOf } from '../support/ops.js'
import { expectFit } from './support/accessibility.js'
import { useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()
const WIDE = { width: 1440, height: 900 }
const NARROW = { width: 390, height: 844 }
const SYMBOLS = ['AAPL', 'AMZN', 'MSFT', 'NVDA', 'TSLA']
const wallet = () => desk().sandbox.accounts.newcomer.address

async function operatorOf(name: string, viewport: typeof WIDE): Promise<Page> {
  const page = await desk().visitAs(name, { viewport })
  await page.goto(`${desk().url}#/operator`)
  await page.getByRole('heading', { name: 'Operator' }).waitFor()
  return page
}

const listing = (page: Page, symbol: string) =>
  page.locator('[data-test=listings] li').filter({ hasText: new RegExp(`^${symbol}\\b`) })

describe.each([WIDE, NARROW])('on a screen of $width pixels', (viewport) => {
  it('anyone sees the readiness, the balance, the gas and the listings, and has no button', async () => {
    const page = await operatorOf('Ben', viewport)
    const { checks } = await readinessOf(desk().sandbox.info.opsUrl)
    await page.locator('[data-test=checks]').waitFor()
    expect(await page.locator('[data-test=checks] dt').allInnerTexts()).toEqual(checks)
    const statuses = await page.locator('[data-test=checks] dd').allInnerTexts()
    expect(new Set(statuses.map((status) => status.trim()))).toEqual(new Set(['healthy']))
    // The balance, its warning, and the gas of the day, of which the rulebook used some.
    const [, , used] = await page.locator('[data-test=relayer] dd').allInnerTexts()
    expect(used).toMatch(/^[1-9][\d,]* of [\d,]+ used$/)
    for (const symbol of SYMBOLS) await listing(page, symbol).getByText('listed', { exact: true }).waitFor()
    await page.getByText('No holding is frozen.').waitFor()
    expect(
      await page.getByRole('button', { name: /^(Delist|List|Freeze|Release|Verify|Admit)/ }).count(),
    ).toBe(0)
    await expectFit(page)
  })

  it('the owner delists and lists an equity, and freezes and releases a holding', async () => {
    const page = await operatorOf('Otto', viewport)
    await page.getByRole('button', { name: 'Delist TSLA' }).click()
    await listing(page, 'TSLA').getByText('delisted', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'List TSLA' }).click()
    await listing(page, 'TSLA').getByText('listed', { exact: true }).waitFor()

    const symbol = page.getByLabel('Ticker symbol')
    const address = page.getByLabel('Wallet to freeze')
    await symbol.fill('msft')
    await address.fill(wallet())
    await page.getByRole('button', { name: 'Freeze', exact: true }).click()
    await page.getByText(/^MSFT of 0x.* is frozen\.$/).waitFor()
    await page.locator('[data-test=frozen] li').filter({ hasText: 'MSFT' }).waitFor()
    await symbol.fill('MSFT')
    await address.fill(wallet())
    await page.getByText('This holding is frozen already.').waitFor()
    await expectFit(page)
    await page.getByRole('button', { name: 'Release MSFT of Noor' }).click()
    await page.getByText('No holding is frozen.').waitFor()
  })

  it('events have their times, and are found by contract, symbol and whole address', async () => {
    const page = await operatorOf('Ben', viewport)
    const rows = page.locator('[data-test=events] li')
    await rows.nth(9).locator('time').waitFor()
    const at = Date.parse((await rows.first().locator('time').getAttribute('datetime')) ?? '')
    expect(Math.abs(at - Date.now())).toBeLessThan(3_600_000)
    const pages = page.getByRole('navigation', { name: 'Pages of events' })
    const next = pages.getByRole('button', { name: 'Next' })
    await next.focus()
    for (let turn = 0; turn < 20; turn++) await page.keyboard.press('Enter')
    await expect.poll(() => next.getAttribute('aria-disabled')).toBe('true')
    expect(await next.evaluate((it) => it === document.activeElement)).toBe(true)
    await page.getByLabel('Search events').fill('nothing at all')
    await page.getByText('No events found').waitFor()
    await page.getByLabel('Search events').fill('amzn is listed')
    await page.getByText('AMZN is listed').waitFor()
    expect(await rows.count()).toBe(1)
    const [employee] = desk().sandbox.accounts.employees
    await page.getByLabel('Search events').fill(employee.address)
    await rows.filter({ hasText: 'joined' }).first().waitFor()
    await page.getByLabel('Show').selectOption('token')
    await rows.filter({ hasText: 'is verified' }).first().waitFor()
    expect(await rows.filter({ hasText: 'joined' }).count()).toBe(0)
    await expectFit(page)
  })
})
