// What the page says of the chain's past while it reads it, and what it keeps of it.
import { describe, expect, it } from 'vitest'
import { useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
const NONE = 'None yet. What you order appears here'

describe('the past of a chain that is slow to tell it', () => {
  it('is said to be read, and not to be empty, until it was answered; it is not read again elsewhere', async () => {
    const { rpcUrl } = desk().sandbox.info
    const page = await desk().visit()
    const firstGo = await holdCalls(page, rpcUrl, 'eth_getLogs')
    await page.getByRole('button', { name: /^Ben\b/ }).click()
    await page.getByText('Reading your orders from the chain…').waitFor()
    expect(await page.getByText(NONE).count()).toBe(0)
    await page.getByRole('link', { name: 'Operator', exact: true }).click()
    await page.getByText('Reading the events…').waitFor()
    expect(await page.getByText('None in the last blocks.').count()).toBe(0)
    firstGo()
    await page.locator('[data-test=events] li').first().waitFor()
    const shown = await page.locator('[data-test=events] li').count()
    await page.getByRole('link', { name: 'Desk', exact: true }).last().click()
    await page.getByText(NONE).waitFor()

    const letGo = await holdCalls(page, rpcUrl, 'eth_getLogs')
    await page.getByRole('link', { name: 'Operator', exact: true }).click()
    await page
      .locator('[data-test=events] li')
      .nth(shown - 1)
      .waitFor()
    await page.getByRole('link', { name: 'Desk', exact: true }).last().click()
    await page.getByText(NONE).waitFor()
    letGo()
    await page.context().close()
  })
})

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
