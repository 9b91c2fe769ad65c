import { describe, expect, it } from 'vitest'
import { goTo, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
/** Every chain has it, a new one as well. */
const BLOCK = 1
const NONE = 'No orders yet. Your orders appear here'

describe('the past of a chain that is slow to tell it', () => {
  it('is said to be read, and not to be empty, until it was answered; elsewhere what was read is shown at once', async () => {
    const { rpcUrl } = desk().sandbox.info
    const page = await desk().visit()
    const firstGo = await holdCalls(page, rpcUrl, 'eth_getLogs')
    await page.getByRole('button', { name: /^Ben\b/ }).click()
    await page.getByText('Reading your orders from the chain…').waitFor()
    expect(await page.getByText(NONE).count()).toBe(0)
    await goTo(page, 'Operator')
    await page.getByText('Reading the events…').waitFor()
    expect(await page.getByText('None in the last blocks.').count()).toBe(0)
    firstGo()
    await page.locator('[data-test=events] li').first().waitFor()
    const shown = await page.locator('[data-test=events] li').count()
    await goTo(page, 'Desk')
    await page.getByText(NONE).waitFor()

    const letGo = await holdCalls(page, rpcUrl, 'eth_getLogs')
    await goTo(page, 'Operator')
    await page
      .locator('[data-test=events] li')
      .nth(shown - 1)
      .waitFor()
    await goTo(page, 'Desk')
    await page.getByText('Reading your orders from the chain…').waitFor()
    expect(await page.getByText(NONE).count()).toBe(0)
    letGo()
    await page.getByText(NONE).waitFor()
    await page.context().close()
  })
})

describe('more orders than a screen holds', () => {
  it('are shown some at a time, as each is asked about', async () => {
    const { rpcUrl } = desk().sandbox.info
    const page = await desk().visit()
    await page.route(`${rpcUrl}/**`, async (route) => {
      const { method, id, params } = route.request().postDataJSON()
      if (method !== 'eth_getLogs') return route.fallback()
      const [{ address, topics, fromBlock, toBlock }] = params
      const isWithin = Number(fromBlock) <= BLOCK && BLOCK <= Number(toBlock)
      const result = Array.from({ length: isWithin ? 23 : 0 }, (_, index) => opened(index, address, topics))
      return route.fulfill({ json: { jsonrpc: '2.0', id, result } })
    })
    await page.getByRole('button', { name: /^Ben\b/ }).click()
    await page.getByRole('button', { name: 'Show 10 earlier' }).click()
    expect(await page.locator('.order').count()).toBe(15)
    await page.getByRole('button', { name: 'Show 8 earlier' }).click()
    expect(await page.locator('.order').count()).toBe(23)
    await page.context().close()
  })
})

/** The event of an order that was opened, as a node gives it. */
function opened(index: number, address: string, [event, , account]: readonly string[]) {
  const hash = `0x${index.toString(16).padStart(64, '0')}`
  return {
    ...{ address, topics: [event, hash, account], data: `0x${'0'.repeat(128)}`, removed: false },
    ...{ blockNumber: `0x${BLOCK.toString(16)}`, blockHash: `0x${'b'.repeat(64)}` },
    ...{ transactionHash: hash, transactionIndex: '0x0', logIndex: `0x${index.toString(16)}` },
  }
}
