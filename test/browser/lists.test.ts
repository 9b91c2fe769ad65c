// The page's lists of the chain's past: kept between visits, and honest about what is not read and why.
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { expectFit } from './support/accessibility.js'
import { deskAndPhone, goTo, newestOrder, order, seeNow, useBrowserDesk } from './support/desk.js'
import { holdCalls } from './support/hold.js'
import { keptOf } from './support/kept.js'

const desk = useBrowserDesk({ pagesStay: true })
const rows = (page: Page) => page.locator('table.people tbody tr')
const state = (page: Page) => page.getByText(/^(?:Reading the|Looking for new) members/)

describe.each(deskAndPhone())('on a %s, the members', (_size, _name, options) => {
  let page: Page

  it('are shown at once on a second visit, while the page looks for new ones', async () => {
    page = await desk().visitAs('Dana', options)
    await goTo(page, 'Institution')
    // The admin, and three employees.
    await rows(page).nth(3).waitFor()
    await state(page).first().waitFor({ state: 'detached' })
    await page.reload()
    const letGo = await holdCalls(page, desk().sandbox.info.rpcUrl, 'eth_getLogs')
    await rows(page).nth(3).waitFor()
    await page.getByText('Looking for new members…').first().waitFor()
    await expectFit(page)
    letGo()
    await state(page).first().waitFor({ state: 'detached' })
  })

  it.each([
    [429, 'The chain’s node limits how often it is asked'],
    [504, 'The chain’s node is slow'],
    [503, 'The chain’s node cannot be reached'],
  ])('stay on the screen when the node answers %i, under a title that says: %s', async (status, title) => {
    const rpc = new URL(desk().sandbox.info.rpcUrl).origin
    const isLogs = (url: URL) => url.origin === rpc
    await page.route(isLogs, (route) =>
      route.request().postData()?.includes('eth_getLogs') ? route.fulfill({ status }) : route.fallback(),
    )
    const alert = page.getByRole('alert').getByText(title)
    await seeNow(page, alert.first())
    await page.getByText('goes on where it stopped').waitFor()
    // Members, moves, versions and the rulebook's employees ask one node.
    expect(
      await page
        .getByRole('alert')
        .getByText(/^The chain’s node/)
        .allInnerTexts(),
    ).toEqual([title])
    expect(await rows(page).count()).toBe(4)
    await expectFit(page)
    await page.unroute(isLogs)
    await alert.first().waitFor({ state: 'detached' })
    if (status === 503) await page.context().close()
  })
})

const answerWith = (answer: object) => async (route: Route) => {
  const { id } = z.object({ id: z.int() }).parse(route.request().postDataJSON())
  await route.fulfill({ json: { jsonrpc: '2.0', id, ...answer } })
}
const REFUSAL = { error: { code: -32005, message: 'query returned more than 10000 results' } }
const TOO_MUCH = 'The chain’s node does not give so much at once'
const OTHER_CHAIN = 'This page’s node is of another chain'

describe('a node that', () => {
  it.each([
    ['refuses every range of blocks', 'Otto', 'Operator', 'eth_getLogs', REFUSAL, TOO_MUCH, 4],
    ['refuses every range of blocks', 'Noor', 'Desk', 'eth_getLogs', REFUSAL, TOO_MUCH, 0],
    ['is of another chain', 'Otto', 'Operator', 'eth_chainId', { result: '0x1' }, OTHER_CHAIN, 4],
  ] as const)(
    '%s is named so to %s once on the %s, and each list says that it was not read',
    async (_what, who, place, method, answer, title, lists) => {
      const rpc = new URL(desk().sandbox.info.rpcUrl).origin
      const page = await desk().visitAs(who)
      await page.route(
        (url) => url.origin === rpc,
        (route) =>
          route.request().postData()?.includes(method) ? answerWith(answer)(route) : route.fallback(),
      )
      if (place === 'Operator') await goTo(page, place)
      const alerts = page.getByRole('alert').getByText(title)
      await alerts.waitFor()
      const unread = page.getByText(/have not been read\.$/)
      await expect.poll(() => unread.count()).toBe(lists)
      expect(await alerts.count()).toBe(1)
      await expectFit(page)
      await page.context().close()
    },
  )
})

/** Adds so many orders of a settled block to the list that the page keeps, as if they had been read on an earlier visit. */
function addKeptOrders(page: Page, count: number): Promise<void> {
  return page.evaluate(async (added) => {
    const answerOf = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    const database = await answerOf(indexedDB.open('desk-device'))
    const table = database.transaction('kept', 'readwrite').objectStore('kept')
    const [key] = (await answerOf(table.getAllKeys())).filter((name) => String(name).startsWith('orders/'))
    if (key === undefined) throw new Error('no list of orders is kept')
    const list = JSON.parse(new TextDecoder().decode(await answerOf(table.get(key))))
    const orders = Array.from({ length: added }, (_, index) => ({
      orderId: `0x${(added - index).toString(16).padStart(64, '0')}`,
      account: String(key).split('/').at(-1),
      ...{ escrowed: '1000000', deadline: 1, txHash: `0x${'0d'.repeat(32)}` },
      ...{ blockNumber: list.read.from, logIndex: added - index },
    }))
    const text = JSON.stringify({ ...list, orders: [...list.orders, ...orders] })
    await answerOf(table.put(new TextEncoder().encode(text), key))
    database.close()
  }, count)
}

describe('an employee with 100,000 orders', () => {
  it('has five of them on a phone, which alone are asked for, and ten more with each press', async () => {
    // Lists of a chain's first blocks have no checkpoint yet.
    await desk().sandbox.provider.send('anvil_mine', ['0x20'])
    const page = await desk().visitAs('Cleo', { viewport: { width: 390, height: 844 } })
    await page.getByText('No orders yet.').waitFor()
    await expect.poll(async () => (await keptOf(page)).some((text) => text.startsWith('orders/'))).toBe(true)
    await addKeptOrders(page, 100_000)
    const asked = new Set<string>()
    page.on('request', (request) => {
      const [, orderId] = /\/orders\/(0x[0-9a-f]{64})/.exec(request.url()) ?? []
      if (orderId !== undefined) asked.add(orderId)
    })
    await page.reload()
    const cards = page.locator('.order')
    const more = page.getByRole('button', { name: 'Show 10 earlier' })
    await more.waitFor()
    await page.getByText('Looking for new orders…').waitFor({ state: 'detached' })
    expect(await cards.count()).toBe(5)
    await expect.poll(() => asked.size).toBe(5)
    await expectFit(page)
    await order(page, 'Buy', 'AAPL', '60')
    await newestOrder(page, 'SETTLED')
    expect(await cards.count()).toBe(5)
    await more.click()
    await cards.nth(14).waitFor()
    expect(await cards.count()).toBe(15)
    await page.context().close()
  })
})
