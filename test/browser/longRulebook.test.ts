// A rulebook of ten thousand employees on its admin's screen: what the page holds of it, and a publication that is cut off between two parts.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Contract } from 'ethers'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { joinings, logEvents } from '../../bench/support/loggedPast.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { interfaces } from '../../src/chain/interfaces.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { EQUITIES, INSTITUTION } from '../../src/sandbox/settings.js'
import { expectFit } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { goTo, openCopy, useBrowserDesk } from './support/desk.js'

const COUNT = 10_000
/** A page of employees, of members, of changes and of versions, each with its head; a list that is not in pages has thousands. */
const MOST_ROWS = 60
const SYMBOLS = EQUITIES.map(({ symbol }) => symbol)
const ORG = nameToBytes32(INSTITUTION)
const desk = useBrowserDesk({ pagesStay: true })
let page: Page

const addressOf = (at: number) => `0x${(0xa11ce_0000 + at).toString(16).padStart(40, '0')}` as const
const chain = (method: string, ...args: unknown[]) => desk().sandbox.provider.send(method, args)

/**
 * Notes from now on how many rows the page holds at most, and types into the form between a file's choice and its import, as often as the
 * page lets a key through.
 */
const WATCH = `
  window.mostRows = 0
  window.typedMeanwhile = 0
  let isImporting = false
  const count = () => {
    window.mostRows = Math.max(window.mostRows, document.querySelectorAll('tbody tr, main li').length)
    if (document.querySelector('[data-test=imported]')) isImporting = false
  }
  const type = () => {
    if (!isImporting) return
    const field = document.querySelector('#max-order')
    window.typedMeanwhile++
    field.value = String(20000 + window.typedMeanwhile)
    field.dispatchEvent(new Event('input', { bubbles: true }))
    setTimeout(type, 5)
  }
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
  document.addEventListener('change', ({ target }) => {
    if (target.id !== 'employee-file') return
    isImporting = true
    setTimeout(type)
  }, true)
`
const noted = async (name: 'mostRows' | 'typedMeanwhile') =>
  z.int().parse(await page.evaluate(`window.${name}`))

/** The path of a file in which every employee differs from those beside it. */
async function employeeFile(): Promise<string> {
  const lines = Array.from({ length: COUNT }, (_, at) => {
    const restricted = [0, 1, 2].map((step) => SYMBOLS[(at + step) % SYMBOLS.length])
    return `${addressOf(at)},Employee ${at},${at % 2 === 0 ? 'yes' : 'no'},yes,${restricted.join(' ')}`
  })
  const path = join(desk().sandbox.directory, 'employees.csv')
  await writeFile(path, ['wallet,name,buy,sell,restricted', ...lines].join('\r\n'))
  return path
}

it('shows ten rows at a time, and takes what is typed while a file of ten thousand is imported', async () => {
  const { provider, info, accounts } = desk().sandbox
  const place = { contract: info.contracts.institutionRegistry, from: accounts.owner.address }
  const wallets = Array.from({ length: COUNT }, (_, at) => addressOf(at))
  await logEvents(provider, place, joinings(ORG, wallets), { perBlock: 250 })
  page = await desk().visitAs('Dana')
  await page.evaluate(WATCH)
  await goTo(page, 'Institution')
  await openCopy(page, desk().copy)
  const { length: ours } = [accounts.admin, ...accounts.employees]
  await page.getByText(`1–10 of ${COUNT + ours} employees`).waitFor()

  await page.getByText('Import employees from a CSV file').click()
  const amount = page.getByLabel('Largest order')
  await page.getByLabel('CSV file', { exact: true }).setInputFiles(await employeeFile())
  await page.locator('[data-test=imported]').waitFor()
  const typed = await noted('typedMeanwhile')
  expect(typed).toBeGreaterThan(2)
  await page.getByText(/^1–10 of \d{5} changes$/).waitFor()
  expect(await amount.inputValue()).toBe(String(20_000 + typed))

  await page.getByLabel('Search employees').pressSequentially(`employee ${COUNT - 1}`)
  await page.getByLabel(`Employee ${COUNT - 1} may buy`).waitFor()
  await page.getByLabel('Search employees').fill('')
  await page.getByText(`1–10 of ${COUNT + ours} employees`).waitFor()
  await expect.poll(() => page.getByLabel(/may buy$/).count(), { timeout: PATIENCE_MS }).toBe(10)
  const rows = await noted('mostRows')
  expect(rows).toBeGreaterThan(10)
  expect(rows).toBeLessThan(MOST_ROWS)
  await expectFit(page)
})

it('is gone on with after page and server have ended between two of its parts, which are not written twice', async () => {
  const { sandbox } = desk()
  const ledger = new Contract(
    sandbox.info.contracts.confidentialLedger,
    confidentialLedgerAbi,
    sandbox.provider,
  )
  const pending = async () => z.string().parse(await ledger.getFunction('pendingPolicyBlob').staticCall(ORG))
  const version = async () => Number(await ledger.getFunction('policyVersion').staticCall(ORG))
  const interval: unknown = await chain('anvil_getIntervalMining')
  await chain('evm_setIntervalMining', 0)
  const begun = await sandbox.provider.getBlockNumber()
  await page.getByRole('button', { name: /^Publish version 2/ }).click()
  const isBegun = async () => {
    await chain('evm_mine')
    return (await pending()) !== '0x'
  }
  await expect.poll(isBegun, { timeout: PATIENCE_MS, interval: 500 }).toBe(true)
  await page.getByText(/^[1-9] of \d parts are on the chain/).waitFor()
  await sandbox.server().kill()
  await page.reload()
  expect(await version()).toBe(1)
  await sandbox.restartServer()
  await chain('evm_setIntervalMining', interval)

  const signatures: string[] = []
  page.on('request', (request) => {
    if (request.postData()?.includes('eth_signTypedData')) signatures.push(request.url())
  })
  await page.getByText('The publication of version 2 was cut off').waitFor()
  await expectFit(page)
  await page.getByRole('button', { name: 'Go on with version 2' }).click()
  await page.getByText('Version 2 is in force.').waitFor()
  expect({ signatures, version: await version() }).toEqual({ signatures: [], version: 2 })
  const written = await partsSince(begun)
  expect(written.length).toBeGreaterThan(1)
  expect(new Set(written).size).toBe(written.length)
  await page.context().close()
})

/** The data of each part that was written to the ledger since a block. */
async function partsSince(begun: number): Promise<string[]> {
  const { provider } = desk().sandbox
  const { selector } = interfaces.confidentialLedger.getFunction('updatePolicy') ?? {}
  const found: string[] = []
  for (let number = begun + 1, last = await provider.getBlockNumber(); number <= last; number++) {
    const block = await provider.getBlock(number, true)
    const ours = (block?.prefetchedTransactions ?? []).filter(({ data }) => data.startsWith(String(selector)))
    for (const { hash, data } of ours) {
      if ((await provider.getTransactionReceipt(hash))?.status === 1) found.push(data)
    }
  }
  return found
}
