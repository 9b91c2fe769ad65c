import { describe, expect, it } from 'vitest'
import { useBrowserDesk } from './support/desk.js'

const desk = useBrowserDesk()
/** Every chain has it, a new one as well. */
const BLOCK = 1

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
