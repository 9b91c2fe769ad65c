// The page's requests to server and chain, its copies of the answers, and its messages while it waits.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { PATIENCE_MS } from './support/browser.js'
import { goTo, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
/** Twice what the page waits between two questions about the market, and more. */
const SOME_POLLS_MS = 7_000
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

describe('a page in the background', () => {
  it('asks for nothing, and for everything at once when it is looked at again', async () => {
    const { url, rpcUrl } = desk().sandbox.info
    const page = await desk().visitAs('Ben')
    await page.getByText(NONE).waitFor()
    let asked = 0
    page.on('request', (request) => {
      if ([url, rpcUrl].includes(new URL(request.url()).origin)) asked += 1
    })
    await setHidden(page, true)
    const askedMeanwhile = async () => {
      const before = asked
      await new Promise((resolve) => setTimeout(resolve, SOME_POLLS_MS))
      return asked - before
    }
    await expect.poll(askedMeanwhile, { timeout: PATIENCE_MS }).toBe(0)
    const before = asked
    await setHidden(page, false)
    await expect.poll(() => asked - before, { timeout: PATIENCE_MS }).toBeGreaterThan(3)
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

/** Hides or shows the page, like a browser whose user changes the tab. */
function setHidden(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((to) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: to })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

/** The event of an order that was opened, as a node gives it. */
function opened(index: number, address: string, [event, , account]: readonly string[]) {
  const hash = `0x${index.toString(16).padStart(64, '0')}`
  return {
    ...{ address, topics: [event, hash, account], data: `0x${'0'.repeat(128)}`, removed: false },
    ...{ blockNumber: `0x${BLOCK.toString(16)}`, blockHash: `0x${'b'.repeat(64)}` },
    ...{ transactionHash: hash, transactionIndex: '0x0', logIndex: `0x${index.toString(16)}` },
  }
}

describe('the console', () => {
  it('has heard of nothing that the page did wrong', () => {
    expect(desk().complaints).toEqual([])
  })
})
