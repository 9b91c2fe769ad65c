// The form of a rulebook: what it begins with, and what it says before it publishes.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { applyChange } from '../../src/client/operator.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { clientOf, publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { INSTITUTION } from '../../src/sandbox/settings.js'
import { findViolations } from './support/accessibility.js'
import { goTo, importCopy, openCopy, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk({ pagesStay: true })
/** Dana's, of a browser that stays the same from one test to the next. */
let dana: Page

beforeAll(async () => {
  dana = await institutionOf(await desk().visitAs('Dana'))
})

async function institutionOf(page: Page): Promise<Page> {
  await goTo(page, 'Institution')
  await page.getByLabel('Ben may buy').waitFor()
  return page
}

const unknown = (page: Page) => page.locator('[data-test=unknown-rules]')
/** The form announces these changes. */
const expectChanges = (page: Page, changes: unknown) =>
  expect.poll(() => page.locator('[data-test=changes] li').allInnerTexts()).toEqual(changes)
const publish = (page: Page) => page.getByRole('button', { name: /^Publish version/ })
const overtaken = (page: Page) => page.getByRole('button', { name: 'The draft is out of date' })

/** The form's initial values where it knows of no rule. */
async function expectBarred(page: Page): Promise<void> {
  for (const deed of ['buy', 'sell']) expect(await page.getByLabel(`Ben may ${deed}`).isChecked()).toBe(false)
  expect(await page.getByLabel('Largest order').inputValue()).toBe('')
  expect(await page.getByLabel('Shares may be withdrawn').isChecked()).toBe(false)
}

async function expectRulesOf2(page: Page): Promise<void> {
  await page.getByText('No changes from version 2.').waitFor()
  expect(await page.getByLabel('Ada may trade TSLA').isChecked()).toBe(false)
  expect(await page.getByLabel('Ben may buy').isChecked()).toBe(true)
  expect(await page.getByLabel('Largest order').inputValue()).toBe('20000')
}

describe('the form', () => {
  it('begins with no member allowed where the browser has no copy of the version in force, and says why', async () => {
    await unknown(dana).getByText('This browser has no copy of version 1, which is in force').waitFor()
    await expectBarred(dana)
    expect(await dana.getByRole('button', { name: 'Enter the largest order' }).isDisabled()).toBe(true)
    await dana.getByLabel('Largest order').fill('25000')
    await dana.getByText('It may lift rules of version 1, which are unknown.').waitFor()
    expect(await findViolations(dana)).toEqual([])

    await importCopy(dana, '{')
    await unknown(dana).getByText('This is not a copy of your institution’s rulebook').waitFor()
    await importCopy(dana, { ...desk().copy, version: 7 })
    await unknown(dana).getByText('The copy has another version than the one in force').waitFor()
  })

  it('begins with the rules of a copy, and shows what it tightens', async () => {
    await openCopy(dana, desk().copy)
    await dana.getByText('No changes from version 1.').waitFor()
    expect(await dana.getByRole('button', { name: 'No changes to publish' }).isDisabled()).toBe(true)
    expect(await dana.getByLabel('Ben may buy').isChecked()).toBe(true)
    await dana.getByLabel('Ada may trade TSLA').uncheck()
    await dana.getByLabel('Largest order').fill('20,000')
    await dana.getByLabel('Shares may be withdrawn').uncheck()
    await expectChanges(dana, [
      expect.stringMatching(/^tightened Ada .* may no longer trade TSLA$/),
      'tightened an order may be at most 20,000 USDC (was 25,000 USDC)',
      'tightened shares may not be withdrawn',
    ])
    expect(await findViolations(dana)).toEqual([])
    await dana.getByRole('button', { name: 'Publish version 2', exact: true }).click()
    await dana.getByText('Version 2 is in force.').waitFor()
    await expectVersion(2)
  })

  it('begins with the rules in force at the next visit, and lifts none of them in silence', async () => {
    await dana.reload()
    await institutionOf(dana)
    await unknown(dana).getByText('The rules of version 2 are still sealed').waitFor()
    await expectBarred(dana)
    await dana.getByRole('button', { name: 'Open the copy of version 2' }).click()
    await expectRulesOf2(dana)
    await dana.getByLabel('Ada may trade TSLA').check()
    await dana.getByLabel('Largest order').fill('25000')
    await expectChanges(dana, [
      expect.stringMatching(/^lifted Ada .* may now trade TSLA$/),
      'lifted an order may be at most 25,000 USDC (was 20,000 USDC)',
    ])
    await dana.getByRole('button', { name: 'Publish version 3, which lifts 2 rules' }).waitFor()
    expect(await findViolations(dana)).toEqual([])
  })

  it('exports its copy, which another browser opens with the same wallet', async () => {
    const downloaded = dana.waitForEvent('download')
    await dana.getByRole('button', { name: 'Export a copy of version 2' }).click()
    const text = await readFile(await (await downloaded).path(), 'utf8')
    expect(JSON.parse(text)).toMatchObject({ format: 'service-rulebook-copy-v1', version: 2 })
    expect(text).not.toContain('TSLA')
    const elsewhere = await institutionOf(await desk().visitAs('Dana'))
    await unknown(elsewhere).getByText('This browser has no copy of version 2').waitFor()
    await openCopy(elsewhere, text)
    await expectRulesOf2(elsewhere)
    await elsewhere.context().close()
  })
})

describe('a wallet that was invited after the rulebook in force', () => {
  it('sees that on both sides before an order is tried, until the next one covers it', async () => {
    const { sandbox } = desk()
    const { admin, newcomer } = sandbox.accounts
    await clientOf(sandbox, admin).inviteMember(newcomer.address)
    await clientOf(sandbox, newcomer).joinInstitution(nameToBytes32(INSTITUTION))
    const verified = { kind: 'kyc', wallet: newcomer.address, isVerified: true } as const
    await applyChange(clientOf(sandbox, sandbox.accounts.owner), verified)
    const noor = await desk().visitAs('Noor')
    const note = noor.locator('[data-test=not-covered]')
    await note.getByText('This wallet is not covered by the rulebook in force.').waitFor()
    expect(await findViolations(noor)).toEqual([])
    // It stays once the chain has been read.
    expect(await note.count()).toBe(1)

    const copy = await publishElsewhere()
    await expectVersion(3)
    await openCopy(dana, copy)
    const row = dana.getByRole('row', { name: /^Noor/ }).filter({ has: dana.getByLabel('Noor may buy') })
    await row.getByText('not covered by the rulebook in force').waitFor()
    expect(await dana.getByLabel('Noor may buy').isChecked()).toBe(false)
    expect(await findViolations(dana)).toEqual([])
    // Version 3 was published with Noor a member: it could have listed her, and the chain can't tell.
    await note.waitFor({ state: 'detached' })
    await dana.getByLabel('Noor may buy').check()
    await dana.getByRole('button', { name: /^Publish version 4, which lifts / }).click()
    await expectVersion(4)
    await row.getByText('not covered by the rulebook in force').waitFor({ state: 'detached' })
    await noor.context().close()
  })
})

describe('a member', () => {
  it('is removed only once the admin has said so twice', async () => {
    const row = dana.getByRole('row', { name: /^Noor .*member/ })
    await row.getByRole('button', { name: /^Remove/ }).click()
    const asked = dana.locator('[data-test=removal]')
    await asked.getByText('Remove Noor').waitFor()
    expect(await findViolations(dana)).toEqual([])
    await asked.getByRole('button', { name: 'Keep' }).click()
    await asked.waitFor({ state: 'detached' })
    await row.getByRole('button', { name: /^Remove/ }).click()
    await asked.getByRole('button', { name: 'Yes, remove' }).click()
    await row.waitFor({ state: 'detached' })
    const removed = dana.locator('[data-test=removed]')
    await removed.getByText('Noor').waitFor()
    // A keyboard goes on from there, and not from the top of the page.
    await expect.poll(() => removed.evaluate((it) => it === document.activeElement)).toBe(true)
    expect(await findViolations(dana)).toEqual([])
  })
})

describe('two browsers of the admin at once', () => {
  it('the second learns of the first before it signs, and replaces nothing', async () => {
    const released = Promise.withResolvers<void>()
    // The page has not heard of it when “Publish” is pressed.
    await dana.route(/\/org\/0x/, async (route) => {
      await released.promise
      await route.continue()
    })
    const signed: string[] = []
    dana.on('request', (request) => {
      if (request.postData()?.includes('eth_signTypedData')) signed.push(request.url())
    })
    await dana.getByLabel('Largest order').fill('23000')
    await publishElsewhere()
    await publish(dana).click()
    await dana.getByRole('alert').getByText('Another rulebook was published first').waitFor()
    expect(signed).toEqual([])
    released.resolve()
    await dana.getByText('Version 5 came into force while you were editing').waitFor()
    expect(await overtaken(dana).isDisabled()).toBe(true)
    expect(await findViolations(dana)).toEqual([])
    await dana.getByRole('button', { name: 'Start again from version 5' }).click()
    await unknown(dana).getByText('This browser has no copy of version 5').waitFor()
    expect(await dana.getByText('Another rulebook was published first').count()).toBe(0)
    await expectVersion(5)
  })
})

describe('rules that several share', () => {
  it('are a group and a default, which rows and files name', async () => {
    const copy = await publishElsewhere()
    const page = await institutionOf(await desk().visitAs('Dana'))
    await openCopy(page, copy)
    await page.getByText('Groups, and members who are not listed').click()
    await page.getByLabel('New group').fill('Resé')
    await page.getByText('Enter 1 to 32 letters and digits').waitFor()
    await page.getByLabel('New group').fill('Research')
    await page.getByRole('button', { name: 'Add the group' }).click()
    await page.getByLabel('Research may sell').check()
    await page.getByLabel('Rules of members not listed').selectOption('Research')
    await page.getByLabel('Rules of Ben').selectOption('Research')
    const ben = page.getByLabel('Ben may buy')
    expect([await ben.isChecked(), await ben.isDisabled()]).toEqual([false, true])
    await page.getByText('Import employees from a CSV file').click()
    await page.getByText('Employees that the file leaves out keep their rules').waitFor()
    const [, , cleo] = desk().sandbox.accounts.employees
    const file = { name: 'employees.csv', mimeType: 'text/csv' }
    const csv = page.getByLabel('CSV file', { exact: true })
    await csv.setInputFiles({ ...file, buffer: Buffer.from(`wallet,group\n${cleo.address},Research`) })
    await page.getByText('1 employee imported into the draft below.').waitFor()
    expect(await page.getByLabel('Rules of Cleo').inputValue()).toBe('Research')
    expect(await findViolations(page)).toEqual([])
    const announced = [
      'lifted a member who is not listed may sell every symbol, and buy none',
      expect.stringMatching(/^tightened Ben .* may no longer buy$/),
      expect.stringMatching(/^tightened Cleo .* may no longer buy$/),
    ]
    await expectChanges(page, expect.arrayContaining(announced))
    await page.getByRole('button', { name: /^Publish version 7, which lifts / }).click()
    await page.getByText('Version 7 is in force.').waitFor()
    await page.getByText('No changes from version 7.').waitFor()
    expect(await page.getByLabel('Rules of Ben').inputValue()).toBe('Research')
    await page.context().close()
  })
})

const expectVersion = (version: number) =>
  dana.locator('[data-test=version]', { hasText: `version ${version} is in force` }).waitFor()

/** Publishes as the admin on another machine; the rulebook lists the first employees and no newcomer. */
async function publishElsewhere() {
  const change = { maxOrderNotional: 15_000_000_000n, allowWithdrawShares: false }
  return (await publishDefaultRulebook(desk().sandbox, change)).copy
}
