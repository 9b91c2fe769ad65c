// The README's tour, from the first visit to a verified newcomer, by the keyboard alone: on a desk and on a phone.
import type { Browser, Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { handled } from '../support/handled.js'
import { findViolations, overflowOf } from './support/accessibility.js'
import { newestOrder, useBrowserDesk } from './support/desk.js'
import { tabTo } from './support/keyboard.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk()
const DESK = { viewport: { width: 1_440, height: 900 } } as const
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const

async function press(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  await tabTo(page, element)
  await page.keyboard.press('Enter')
}

/** Replaces what a field holds. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await field.waitFor()
  await tabTo(page, field)
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

async function connect(name: string, options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const page = await desk().visit(undefined, options)
  await press(page, page.getByRole('button', { name: new RegExp(`^${name}\\b`) }))
  await page.locator('.account').waitFor()
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).last()

async function expectFit(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
  expect(await overflowOf(page)).toBe(0)
}

describe.each([
  ['desk', 'Ada', DESK],
  ['phone', 'Ben', PHONE],
] as const)('the employee’s part, on a %s', (size, name, options) => {
  it('opens the portfolio, buys, and reads why an order was refused', async () => {
    const page = await connect(name, options)
    await press(page, button(page, 'Open my portfolio'))
    await page.getByText('You have no portfolio yet.').waitFor()
    await type(page, page.locator('#ticket-amount'), '1000')
    await page.locator('[data-test=review]', { hasText: 'Buys about' }).waitFor()
    await page.keyboard.press('Enter')
    await newestOrder(page, 'SETTLED')
    await page.locator('[data-holding=AAPL]').waitFor()
    await type(page, page.locator('#ticket-amount'), '30000')
    await page.keyboard.press('Enter')
    const refused = await newestOrder(page, 'REFUNDED')
    await refused.getByText('The order is above the largest amount that your institution allows.').waitFor()
    await expectFit(page)
    await screenshot(page, `tour-employee-${size}`)
    await page.context().close()
  })
})

describe('the parts of admin, newcomer and operator', () => {
  it('publish a rulebook from a copy, invite, join, and verify', async () => {
    const { newcomer } = desk().sandbox.accounts
    const dana = await connect('Dana', DESK)
    await press(dana, link(dana, 'Institution'))
    const file = dana.getByLabel('Import the copy from')
    await file.waitFor()
    // Before the tabs: the page may take a key sooner than the order to hand choosers over, and answers after it.
    const chooser = handled(dana.waitForEvent('filechooser'))
    await tabTo(dana, file)
    await dana.keyboard.press('Space')
    const copy = { name: 'rulebook.json', mimeType: 'application/json' }
    await (await chooser).setFiles({ ...copy, buffer: Buffer.from(JSON.stringify(desk().copy)) })
    await dana.locator('[data-test=unknown-rules]').waitFor({ state: 'detached' })
    await type(dana, dana.getByLabel('Largest order'), '20,000')
    await press(dana, button(dana, 'Publish version 2'))
    await dana.getByText('Version 2 is in force.').waitFor()

    const noor = await connect('Noor', PHONE)
    await noor.getByRole('heading', { name: 'Join or create an institution' }).waitFor()
    await type(dana, dana.getByLabel('Invite a wallet'), newcomer.address)
    await press(dana, button(dana, 'Invite'))
    await dana.getByRole('row', { name: /Noor .*invited/ }).waitFor()
    await expectFit(dana)
    await screenshot(dana, 'tour-admin-desk')
    await press(noor, button(noor, 'Join Example Capital'))
    await noor.getByRole('heading', { name: 'Almost there' }).waitFor()
    await expectFit(noor)

    const otto = await connect('Otto', DESK)
    await press(otto, link(otto, 'Operator'))
    await type(otto, otto.getByLabel('Address', { exact: true }), newcomer.address)
    await press(otto, button(otto, 'Verify'))
    await otto.getByText('is verified.').waitFor()
    await otto.locator('[data-test=events] li').first().waitFor()
    await noor.getByRole('heading', { name: 'Market', exact: true }).waitFor()
    await screenshot(noor, 'tour-newcomer-phone')
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
