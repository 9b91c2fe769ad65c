// The versions of a rulebook: when and by whom each was published, what it changed, and how an earlier one comes back.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RulebookCopy } from '../../src/client/admin.js'
import { publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { expectFit, findViolations } from './support/accessibility.js'
import { goTo, openCopy, SIZES, useBrowserDesk } from './support/desk.js'
import { tabTo } from './support/keyboard.js'

const desk = useBrowserDesk()
/** The version in force, and the copies that were exported elsewhere. */
let version = 3
let copies: readonly RulebookCopy[] = []

beforeAll(async () => {
  const allowWithdrawShares = false
  const elsewhere = [{ allowWithdrawShares }, { allowWithdrawShares, maxOrderNotional: 9_000_000_000n }]
  const found = [desk().copy]
  for (const change of elsewhere) found.push((await publishDefaultRulebook(desk().sandbox, change)).copy)
  copies = found.flatMap((copy) => copy ?? [])
})

const versionOf = (page: Page, number: number) => page.locator(`[data-version="${number}"]`)

async function institution(page: Page): Promise<Page> {
  await goTo(page, 'Institution')
  await page.getByRole('heading', { name: 'Rulebook history' }).waitFor()
  await page.getByLabel('Ben may buy').waitFor()
  return page
}

async function importOlder(page: Page, ...older: readonly unknown[]): Promise<void> {
  const files = older.map((copy, at) => ({
    name: `rulebook-${at}.json`,
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(copy)),
  }))
  await page.getByLabel('Import copies of earlier versions').setInputFiles(files)
}

/** The day and the year: the second is the block's. */
const NOW = /\d{1,2} [A-Z][a-z]{2,3} 20\d\d, \d\d:\d\d:\d\d by Dana 0x/

describe('at a first visit', () => {
  it('shows from the chain which version was published when and by whom, on another device', async () => {
    const page = await institution(await desk().visitAs('Dana'))
    for (const number of [1, 2, 3]) {
      const row = versionOf(page, number)
      await row.getByText('no copy on this device').waitFor()
      expect(await row.innerText()).toMatch(NOW)
      expect(await row.getByRole('button').count()).toBe(0)
    }
    const [first] = await page.locator('[data-version]').all()
    expect(await first?.innerText()).toContain('Version 3')
    await versionOf(page, 3).getByText('in force', { exact: true }).waitFor()
  })
})

describe.each(SIZES)('at $name', (size) => {
  it('shows the difference of each version, and restores one by one click and one difference to confirm', async () => {
    const page = await institution(await desk().visitAs('Dana', size.options))
    const before = version
    await openCopy(page, copies[before - 1])
    // Version 2 has no copy here: the difference of 3 is unknown.
    const three = versionOf(page, 3)
    await three.getByRole('button', { name: 'Show the difference' }).click()
    await three.getByText('This device has no copy of version 2').waitFor()
    await three.getByRole('button', { name: 'Hide the difference' }).click()
    await importOlder(page, ...copies.slice(0, 2))
    await page
      .getByText('no copy on this device')
      .nth(copies.length - before)
      .waitFor({ state: 'detached' })
    await tabTo(page, three.getByRole('button', { name: 'Show the difference' }))
    await page.keyboard.press('Enter')
    const difference = three.locator('[data-test=difference]')
    await difference.waitFor()
    expect(await difference.getByRole('listitem').allInnerTexts()).toEqual([
      'tightened an order may be at most 9,000 USDC (was 25,000 USDC)',
    ])
    await versionOf(page, 1).getByRole('button', { name: 'Show the difference' }).click()
    await versionOf(page, 1).getByText('added').first().waitFor()
    await expectFit(page)

    await page.getByLabel('Largest order').fill('7')
    await tabTo(page, versionOf(page, 1).getByRole('button', { name: 'Restore' }))
    await page.keyboard.press('Enter')
    await page.getByText('These are the rules of version 1.').waitFor()
    const heading = page.getByRole('heading', { name: `What version ${before + 1} changes` })
    await expect.poll(() => heading.evaluate((it) => it === document.activeElement)).toBe(true)
    expect(await page.getByLabel('Largest order').inputValue()).toBe('25000')
    const changes = page.locator('[data-test=changes] li')
    await changes.first().waitFor()
    await expect.poll(() => changes.allInnerTexts()).toContain('lifted shares may be withdrawn')
    await expectFit(page)
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText(`No changes from version ${before}.`).waitFor()
  })
})

describe('a draft', () => {
  it('stays as it was written through a look elsewhere, and is not shown to the wallet that comes after its author’s', async () => {
    const page = await institution(await desk().visitAs('Dana'))
    await openCopy(page, copies[version - 1])
    const largest = page.getByLabel('Largest order')
    await page.getByLabel('Ben may trade TSLA').uncheck()
    await largest.fill('7,000')
    await goTo(page, 'Operator')
    await page.getByRole('heading', { name: 'Operator' }).waitFor()
    await goTo(page, 'Institution')
    await page.getByLabel('Ben may trade TSLA').waitFor()
    expect(await page.getByLabel('Ben may trade TSLA').isChecked()).toBe(false)
    expect(await largest.inputValue()).toBe('7,000')
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: /^Dana\b/ }).click()
    expect(await largest.inputValue()).toBe('')
  })
})

describe('a version that is restored', () => {
  it('comes into force as a new one, and every version published here stays through a reload', async () => {
    const page = await institution(await desk().visitAs('Dana'))
    await openCopy(page, copies[version - 1])
    await importOlder(page, copies[0])
    await versionOf(page, 1).getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('button', { name: 'Publish version 4, which lifts 2 rules' }).click()
    await page.getByText('Version 4 is in force.').waitFor()
    version = 4
    await versionOf(page, 4).getByText('in force', { exact: true }).waitFor()
    await page.getByLabel('Ada may trade TSLA').uncheck()
    await page.getByRole('button', { name: 'Publish version 5' }).click()
    await page.getByText('Version 5 is in force.').waitFor()

    await page.reload()
    await institution(page)
    await versionOf(page, 2).getByText('no copy on this device').waitFor()
    await versionOf(page, 5).getByRole('button', { name: 'Show the difference' }).click()
    await versionOf(page, 5).getByText('may no longer trade TSLA').waitFor()
    await versionOf(page, 4).getByRole('button', { name: 'Show the difference' }).click()
    await versionOf(page, 4).getByText('shares may be withdrawn').waitFor()
    // The rules in force are known with it, and nothing is asked again.
    await page.getByText('No changes from version 5.').waitFor()
    expect(await page.getByText('no copy on this device').count()).toBe(1)
    await versionOf(page, 4).getByRole('button', { name: 'Restore' }).click()
    await page.getByText('may now trade TSLA').last().waitFor()
    expect(await findViolations(page)).toEqual([])
  })
})
