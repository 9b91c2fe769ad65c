// The store of IndexedDB in a real browser, with two tabs.
import { build } from 'esbuild'
import type { BrowserContext, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import type { OrderStore } from '../../src/client/index.js'
import { decodeOrder, encodeOrder } from '../../src/client/store/index.js'
import { expectOrderStore } from '../client/store/contract.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'
import { useChromium } from './support/browser.js'
import { killTab } from './support/desk.js'

/** Where the tabs are: an origin that is let use storage. */
const ORIGIN = 'https://store.example'

const bundled = await build({
  stdin: { contents: "export * from './src/client/store/browser.js'", resolveDir: '.' },
  ...{ bundle: true, write: false, format: 'iife', globalName: 'stores', platform: 'browser' },
})

/** The store's own code in a tab, called from here by the text of each order. */
declare const stores: typeof import('../../src/client/store/browser.js')

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.route(`${ORIGIN}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }))
  await page.goto(ORIGIN)
  await page.addScriptTag({ content: bundled.outputFiles[0]?.text ?? '' })
  await page.evaluate(() => {
    Object.assign(window, { orderStore: stores.createIndexedDbOrderStore() })
  })
  return page
}

declare const orderStore: OrderStore

function storeIn(page: Page): OrderStore {
  return {
    keep: (order) => page.evaluate((text) => orderStore.keep(stores.decodeOrder(text)), encodeOrder(order)),
    async find(orderId) {
      const text = await page.evaluate(async (id) => {
        const found = await orderStore.find(id)
        return found && stores.encodeOrder(found)
      }, orderId)
      return text === null ? null : decodeOrder(text)
    },
    async list() {
      const texts = await page.evaluate(async () => (await orderStore.list()).map(stores.encodeOrder))
      return texts.map(decodeOrder)
    },
    forget: (orderId) => page.evaluate((id) => orderStore.forget(id), orderId),
  }
}

async function twoTabs(): Promise<[Page, Page]> {
  const context = await (await useChromium()).newContext()
  onTestFinished(() => context.close())
  return [await openTab(context), await openTab(context)]
}

it('the store of a browser keeps orders as every store does, also in two tabs at once', async () => {
  const [one, other] = await twoTabs()
  await expectOrderStore(storeIn(one), storeIn(other))
})

it('the store of a browser loses no order that a tab had kept when it was killed', async () => {
  const [one, other] = await twoTabs()
  let told = -1
  await one.exposeFunction('tell', (number: number) => {
    told = number
  })
  const texts = Array.from({ length: 2_000 }, (_, number) => encodeOrder(keptOrderOf(number)))
  void one
    .evaluate(async (all) => {
      const tell: unknown = Reflect.get(window, 'tell')
      for (const [number, text] of all.entries()) {
        await orderStore.keep(stores.decodeOrder(text))
        if (typeof tell === 'function') tell(number)
      }
    }, texts)
    .catch(() => undefined)
  await expect.poll(() => told).toBeGreaterThan(20)
  await killTab(one)
  const kept = await storeIn(other).list()
  for (let number = 0; number <= told; number++) expect(kept).toContainEqual(keptOrderOf(number))
})

it('the store of a browser opens its database again once another tab has deleted it', async () => {
  const [one, other] = await twoTabs()
  const order = keptOrderOf(1)
  await storeIn(one).keep(order)
  await other.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('confidential-trading-orders')
        request.onsuccess = resolve
        request.onerror = reject
      }),
  )
  expect(await storeIn(one).list()).toEqual([])
  await storeIn(one).keep(order)
  expect(await storeIn(other).list()).toEqual([order])
})
