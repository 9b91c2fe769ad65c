// An employee whose portfolio key was phished makes a new one, and takes its file to another browser.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { findViolations } from './support/accessibility.js'
import { newestOrder, order, useBrowserDesk } from './support/desk.js'
import { keptOf } from './support/kept.js'

const desk = useBrowserDesk({ pagesStay: true })
const fileSchema = z.object({ account: z.string(), keys: z.array(z.object({ privateKey: z.string() })) })
/** The file that Ada keeps. */
let kept = { name: '', text: '' }
let page: Page

const showDetails = () => page.getByText('Replace the key, or use a key file').click()

/** Makes a key, and keeps the file that the browser saves. */
async function makeKey(): Promise<typeof kept> {
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Make a new key' }).click()
  const download = await saving
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

const choose = ({ name, text }: typeof kept) =>
  page
    .getByLabel('Use a key file')
    .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })

describe('a new key', () => {
  it('is saved as a file, and says loudly what is lost with it, before it is in use', async () => {
    page = await desk().visitAs('Ada')
    await order(page, 'Buy', 'AAPL', '500')
    await newestOrder(page, 'SETTLED')
    await page.getByText('made by your wallet').waitFor()
    await showDetails()
    kept = await makeKey()
    await page.getByText(`Keep the file ${kept.name}`).waitFor()
    await page.getByText('your wallet cannot recover it').waitFor()
    await page.getByText('The new key is not in use yet').waitFor()
    await page.getByText('made by your wallet').waitFor()
    expect(await findViolations(page)).toEqual([])
  })

  it('is in use once its file is chosen, and takes effect with the next order that is admitted', async () => {
    await choose(kept)
    await page.getByText(/^made on /).waitFor()
    await page.locator('[data-test=key-waits]').waitFor()
    expect(await findViolations(page)).toEqual([])
    await order(page, 'Buy', 'MSFT', '30,000')
    await newestOrder(page, 'REFUNDED')
    await page.locator('[data-notice=over-limit]').waitFor()
    await page.locator('[data-test=key-waits]').waitFor()
    await order(page, 'Sell', 'AAPL', '100')
    await newestOrder(page, 'SETTLED')
    await page.locator('[data-test=key-waits]').waitFor({ state: 'detached' })
  })

  it('is kept nowhere in the browser', async () => {
    const { account, keys } = fileSchema.parse(JSON.parse(kept.text))
    const stored = (await keptOf(page)).join()
    expect(stored).toContain(`desk:portfolio-key:${account}`)
    for (const { privateKey } of keys) expect(stored).not.toContain(privateKey.slice(2))
  })

  it('is asked for after a reload, before an order could bring the older one back', async () => {
    await page.reload()
    await page.getByRole('alert').getByText('A newer key was made on').waitFor()
    await order(page, 'Buy', 'AAPL', '50')
    await page.getByRole('alert').getByText('A newer key was made for this portfolio').waitFor()
    await choose(kept)
    await page.locator('[data-test=total]').waitFor()
    await page.getByText('A newer key was made on').waitFor({ state: 'detached' })
    await order(page, 'Buy', 'NVDA', '50')
    await page.locator('[data-holding=NVDA]').waitFor()
    expect(await page.locator('[data-test=key-waits]').count()).toBe(0)
  })
})

describe('another browser', () => {
  it('does not open the portfolio without the file, and does with it', async () => {
    page = await desk().visitAs('Ada')
    await page.getByRole('button', { name: 'Open my portfolio' }).click()
    await page.getByRole('alert').getByText('No key in this page opens the portfolio').waitFor()
    await order(page, 'Buy', 'AAPL', '50')
    await page.getByRole('alert').getByText('A newer key was made for this portfolio').waitFor()
    await showDetails()
    await choose({ name: 'other.json', text: '{}' })
    await page.getByRole('alert').getByText('This is not a key file').waitFor()
    await choose(kept)
    await page.locator('[data-test=total]').waitFor()
    await page.context().close()
  })
})
