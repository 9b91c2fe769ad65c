// The institution's people on its admin's screen: their names, and a file of them. Many of them: longRulebook.test.ts.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFit, findViolations, overflowOf } from './support/accessibility.js'
import { goTo, openCopy, SIZES, useBrowserDesk } from './support/desk.js'
import { keptOf } from './support/kept.js'
import { tabTo } from './support/keyboard.js'

const desk = useBrowserDesk()
const NAME = 'Benedikta Überacker'

/** Dana's screen of the institution, in a browser of her own. */
async function institution(page: Page): Promise<Page> {
  await goTo(page, 'Institution')
  await page.getByRole('heading', { name: 'Members' }).waitFor()
  await page
    .getByLabel(/may buy$/)
    .first()
    .waitFor()
  return page
}

/** Naming a member who has no name, or one that has. */
const NAMING = /^(?:Name|Rename) 0x/

const naming = (page: Page) => page.locator('[data-test=naming]')
const memberRow = (page: Page, name: RegExp) =>
  page.getByRole('row', { name }).filter({ has: page.getByRole('button', { name: NAMING }) })

/** Follows everything that a page sends. */
function sent(page: Page): string[] {
  const bodies: string[] = []
  page.on('request', (request) => bodies.push(`${request.url()} ${request.postData() ?? ''}`))
  return bodies
}

describe.each(SIZES)('at $name, the rules of a member', (size) => {
  it('stand under the name that the admin gave, which never reaches a server and which only the admin can open', async () => {
    const page = await desk().visitAs('Dana', size.options)
    const bodies = sent(page)
    await institution(page)
    const button = memberRow(page, /^Ben/).getByRole('button', { name: NAMING })
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    const field = naming(page).getByLabel('Name')
    expect(await field.inputValue()).toBe('Ben')
    await field.fill('x'.repeat(61))
    await naming(page).getByText('Enter a name of 60 characters or less').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await findViolations(page)).toEqual([])
    await field.fill(NAME)
    await page.keyboard.press('Enter')
    await naming(page).waitFor({ state: 'detached' })
    const named = memberRow(page, new RegExp(`^${NAME}`)).getByRole('button', { name: NAMING })
    await named.waitFor()
    await page.getByLabel(`${NAME} may buy`).waitFor()
    expect(await overflowOf(page)).toBe(0)

    await page.reload()
    await institution(page)
    expect(await page.getByText(NAME).count()).toBe(0)
    // The sealed name is not shown, so an empty field cannot remove it.
    await button.click()
    expect(await field.inputValue()).toBe('')
    await naming(page).getByText('The names on this device are sealed.').waitFor()
    await field.fill('X')
    await field.fill('')
    expect(await naming(page).getByRole('button', { name: 'Save the name' }).isDisabled()).toBe(true)
    await field.press('Enter')
    await expectFit(page)
    await page.getByRole('button', { name: 'Open the names' }).click()
    await named.waitFor()
    await expect.poll(() => field.inputValue()).toBe(NAME)
    await naming(page).getByRole('button', { name: 'Cancel' }).click()
    const stored = (await keptOf(page)).join('\n')
    expect(stored).toContain('names/31337/')
    expect(stored).not.toContain('Überacker')
    expect(bodies.join('\n')).toContain('eth_call')
    expect(bodies.join('\n')).not.toMatch(/berack|%C3%9Cber/)

    await named.click()
    await field.fill('')
    await page.keyboard.press('Enter')
    await memberRow(page, /^Ben/).waitFor()
  })
})

const importBox = (page: Page) => page.locator('details.import')

async function chooseCsv(page: Page, lines: readonly string[]): Promise<void> {
  const file = { name: 'employees.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) }
  await page.getByLabel('CSV file', { exact: true }).setInputFiles(file)
}

describe.each(SIZES)('at $name, a CSV file of employees', (size) => {
  it('has its bad lines named, and imports the good ones once the admin says so', async () => {
    const { admin, employees, newcomer } = desk().sandbox.accounts
    const [ada, ben, cleo] = employees
    const page = await desk().visitAs('Dana', size.options)
    const bodies = sent(page)
    await institution(page)
    await openCopy(page, desk().copy)
    const summary = page.getByText('Import employees from a CSV file')
    await tabTo(page, summary)
    await page.keyboard.press('Enter')
    const lines = [
      'wallet,name,buy,sell,restricted',
      `${ada.address},Ada Lovelace,yes,yes,`,
      `${ben.address},Ben Oduya,yes,maybe,`,
      '',
      `${cleo.address},Cleo Marsh,yes,no,tsla NVDA`,
      `${admin.address},Dana,yes,yes,GOOG`,
      `0x${'12'.repeat(21)},Eve,yes,yes,`,
    ]
    const faults = page.locator('[data-test=faults]')
    const field = page.getByLabel('CSV file', { exact: true })
    await chooseCsv(page, lines)
    await faults.getByText('Line 3:').waitFor()
    expect(await faults.getByRole('listitem').allInnerTexts()).toEqual([
      'Line 3: “maybe” in the column sell is neither yes nor no.',
      'Line 6: “GOOG” is not a listed symbol.',
      `Line 7: “0x${'12'.repeat(21)}” is not an address: enter 0x and 40 hex digits.`,
    ])
    const error = page.locator(`#${await field.getAttribute('aria-describedby')}`)
    expect(await error.textContent()).toMatch(/^Nothing was imported: 3 lines are wrong/)
    await page.getByText('No changes from version 1.').waitFor()
    expect(await page.getByText('Ada Lovelace').count()).toBe(0)
    await expectFit(page)

    const good = page.getByRole('button', { name: 'Import the 2 employees on the other lines' })
    await tabTo(page, good)
    await page.keyboard.press('Enter')
    await importBox(page).getByText('2 employees imported into the draft below.').waitFor()
    await faults.waitFor({ state: 'detached' })
    await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
    await expect
      .poll(() => page.locator('[data-test=changes] li').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^tightened Cleo Marsh .* may no longer sell$/),
        expect.stringMatching(/^tightened Cleo Marsh .* may no longer trade NVDA and TSLA$/),
      ])
    await page.getByLabel('Ada Lovelace may buy').waitFor()
    expect(await page.getByLabel('Cleo Marsh may trade NVDA').isChecked()).toBe(false)

    // A file without a fault is imported at once; a wallet outside of the institution is offered an invitation.
    await chooseCsv(page, ['wallet;name;restricted', `${newcomer.address};Eve Stone;AAPL`])
    await importBox(page).getByText('1 employee imported into the draft below.').waitFor()
    await page.getByText('1 wallet in the file is not invited yet').waitFor()
    expect(await page.getByLabel('Eve Stone may buy').count()).toBe(0)
    await expectFit(page)
    await page.getByRole('button', { name: 'Invite 1 wallet' }).click()
    await page.getByLabel('Eve Stone may buy').waitFor()
    expect(await page.getByLabel('Eve Stone may buy').isChecked()).toBe(true)
    expect(await page.getByLabel('Eve Stone may trade AAPL').isChecked()).toBe(false)
    const invited = memberRow(page, /^Eve Stone .*invited/)
    // The members are read again, and a field that may have the focus is still the same one.
    const kept = await page.getByLabel('Ada Lovelace may buy').elementHandle()
    await invited.getByRole('button', { name: /^Cancel 0x/ }).click()
    await page.getByRole('button', { name: 'Yes, cancel' }).click()
    await invited.waitFor({ state: 'detached' })
    expect(await kept?.evaluate((it) => it.isConnected)).toBe(true)
    expect(bodies.join('\n')).not.toMatch(/Lovelace|Marsh|Stone/)
  })
})
