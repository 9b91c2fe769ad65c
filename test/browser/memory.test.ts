// Data that only the page remembers.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { goTo, keptOrders, newestOrder, openCopy, order, useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()

describe('the envelope of an open order', () => {
  it('is given again to a server that has lost what it had', async () => {
    const { sandbox } = desk()
    sandbox.broker.fill({ mode: 'hold' })
    const page = await desk().visitAs('Ben')
    await order(page, 'Buy', 'MSFT', '90')
    const card = page.locator('.order').first()
    await card.getByText('At the broker', { exact: true }).waitFor()
    expect(await card.getByRole('button', { name: 'Submit it again' }).count()).toBe(0)
    const again = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/orders'),
    )
    await sandbox.server().kill()
    await rm(join(sandbox.directory, 'server'), { recursive: true })
    await sandbox.restartServer()
    await again
    await card.getByText('At the broker', { exact: true }).waitFor()
    sandbox.broker.clear({ what: 'fills' })
    sandbox.broker.release({})
    await newestOrder(page, 'SETTLED')
    await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
    await page.context().close()
  })
})

describe('a rulebook', () => {
  it('stays as it was written through a look elsewhere', async () => {
    const page = await desk().visitAs('Dana')
    await goTo(page, 'Institution')
    await openCopy(page, desk().copy)
    await page.getByLabel('Ben may trade TSLA').uncheck()
    await page.getByLabel('Largest order').fill('7,000')
    await lookElsewhere(page)
    await page.getByLabel('Ben may trade TSLA').waitFor()
    expect(await page.getByLabel('Ben may trade TSLA').isChecked()).toBe(false)
    expect(await page.getByLabel('Largest order').inputValue()).toBe('7,000')

    const { version, letGo } = await holdRulebook(page)
    await page.getByRole('button', { name: `Publish version ${version}` }).click()
    await page.getByRole('progressbar').waitFor()
    await lookElsewhere(page)
    await page.getByRole('progressbar').waitFor()
    expect(await findViolations(page)).toEqual([])
    expect(await page.getByRole('button', { name: 'Publishing…' }).isDisabled()).toBe(true)
    await goTo(page, 'Operator')
    const answered = page.waitForResponse('**/policy')
    letGo()
    await answered
    await goTo(page, 'Institution')
    await page.getByText(`Version ${version} is in force.`).waitFor()
    await page.getByText(`version ${version} is in force`, { exact: true }).waitFor()
    expect(await page.getByLabel('Ben may trade TSLA').isChecked()).toBe(false)
    await page.context().close()
  })

  it('is not shown to the wallet that comes after its author’s', async () => {
    const page = await desk().visitAs('Dana')
    await goTo(page, 'Institution')
    await page.getByLabel('Largest order').fill('7,000')
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: /^Dana\b/ }).click()
    expect(await page.getByLabel('Largest order').inputValue()).toBe('')
    await page.context().close()
  })
})

async function lookElsewhere(page: Page): Promise<void> {
  await goTo(page, 'Operator')
  await page.getByRole('heading', { name: 'Operator' }).waitFor()
  await goTo(page, 'Institution')
}

/** Holds back the rulebook that is published next, and tells which version it will be. */
async function holdRulebook(page: Page): Promise<{ version: number; letGo: () => void }> {
  const said = await page.locator('[data-test=version]').textContent()
  let letGo = () => {}
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/policy', async (route) => {
    await released
    await route.continue()
  })
  return { version: Number(/\d+/.exec(said ?? '')) + 1, letGo }
}
