// Trades that are interrupted: the server stops or loses its data, or the tab closes, while an order is on its way.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { PATIENCE_MS } from './support/browser.js'
import { keptOrders, killTab, newestOrder, order, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'

const desk = useBrowserDesk()
const stageOf = (page: Page, stage: string) => page.locator(`[data-test=stages][data-stage=${stage}]`)
const unopenedOf = (page: Page) => page.locator('.order').first().locator('[data-test=unopened]')
/** The orders that the broker has, of any state. */
const placed = () => desk().sandbox.broker.orders().length

/** Another tab of the same browser, whose wallet is connected again. */
async function reopen(page: Page, name: string): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(desk().url)
  await tab.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
  await tab.locator('.account').waitFor()
  return tab
}

/** Waits until the page's wallet has been asked for something. */
const askedFor = (page: Page, method: string) =>
  page.waitForRequest((request) => request.postData()?.includes(`"${method}"`) ?? false)

/** Buys, and loses the server while the wallet asks for what the method names. */
async function loseServer(page: Page, method: string, ...of: readonly [amount: string, payer?: FeePayer]) {
  const [amount, payer] = of
  const letGo = await holdCalls(page, desk().sandbox.info.rpcUrl, method)
  const asked = askedFor(page, method)
  await order(page, 'Buy', 'AAPL', amount, payer)
  await asked
  await desk().sandbox.server().kill()
  letGo()
}

type FeePayer = Parameters<typeof order>[4]
const WALLET_PAYS: FeePayer = { feePayer: 'Wallet pays' }

describe('a server that is lost between “Buy” and the order’s end', () => {
  it.each([
    ['Ada', 'the platform pays', 'eth_signTypedData_v4', {}],
    ['Ben', 'the wallet pays', 'eth_sendTransaction', { feePayer: 'Wallet pays' }],
  ] as const)(
    '%s’s order goes on by itself once it is back, where %s',
    async (name, _who, method, options) => {
      const before = placed()
      const page = await desk().visitAs(name)
      await loseServer(page, method, '70', options)
      await page.getByText(/^Old prices, from/).waitFor()
      await page.locator('[data-test=place]', { hasText: 'Sending…' }).waitFor()
      expect(await findViolations(page)).toEqual([])
      await desk().sandbox.restartServer()
      await newestOrder(page, 'SETTLED')
      await page.locator('[data-test=result]', { hasText: /^Bought 0\.\d+ AAPL/ }).waitFor()
      expect(placed() - before).toBe(1)
      await expect.poll(() => keptOrders(page), { timeout: PATIENCE_MS }).toBe(0)
    },
  )
})

describe('a tab that is closed, or killed', () => {
  it('with a signed order that the platform has not got asks its owner at the next visit', async () => {
    const before = placed()
    const page = await desk().visitAs('Ben')
    await loseServer(page, 'eth_signTypedData_v4', '73')
    await stageOf(page, 'escrow').waitFor()
    await page.close()
    await desk().sandbox.restartServer()
    const tab = await reopen(page, 'Ben')
    await unopenedOf(tab).getByText('You signed this order').waitFor()
    expect(await findViolations(tab)).toEqual([])
    expect(placed()).toBe(before)
    await unopenedOf(tab).getByRole('button', { name: 'Send it again' }).click()
    await newestOrder(tab, 'SETTLED')
    expect(placed() - before).toBe(1)
  })

  it.each<[string, (page: Page) => Promise<void>]>([
    [
      'its escrow open',
      async (page) => {
        await loseServer(page, 'eth_sendTransaction', '74', WALLET_PAYS)
        await stageOf(page, 'sealed').waitFor()
        await page.close()
        await desk().sandbox.restartServer()
      },
    ],
    [
      'the order’s transaction sent and not mined',
      async (page) => {
        const { provider } = desk().sandbox
        const interval: unknown = await provider.send('anvil_getIntervalMining', [])
        await provider.send('evm_setIntervalMining', [0])
        await order(page, 'Buy', 'AAPL', '76', WALLET_PAYS)
        const pool = async () => (await provider.send('txpool_status', [])).pending
        await expect.poll(pool, { timeout: PATIENCE_MS }).not.toBe('0x0')
        await killTab(page)
        await provider.send('evm_setIntervalMining', [interval])
      },
    ],
  ])('with %s has the order sent by itself at the next visit', async (_what, interrupt) => {
    const before = placed()
    const page = await desk().visitAs('Cleo')
    await interrupt(page)
    const tab = await reopen(page, 'Cleo')
    await expect.poll(() => placed() - before, { timeout: PATIENCE_MS }).toBe(1)
    await newestOrder(tab, 'SETTLED')
    expect(placed() - before).toBe(1)
    await expect.poll(() => keptOrders(tab), { timeout: PATIENCE_MS }).toBe(0)
  })
})

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
  })
})
