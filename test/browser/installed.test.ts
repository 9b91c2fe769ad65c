// The page as a program of its own: what a browser reads to install it, and how it tells of an order's end in a tab that nobody sees.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createReader } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { PATIENCE_MS } from './support/browser.js'
import { newestOrder, order, setHidden, useBrowserDesk } from './support/desk.js'
import { installNotifications } from './support/notifications.js'
import { screenshot } from './support/screenshot.js'

const desk = useBrowserDesk()
const HOUR_MS = 3_600_000
/** Longer than a hidden page pauses between two looks at its orders. */
const A_LOOK_MS = 31_000
const manifestSchema = z.looseObject({
  name: z.string(),
  icons: z.array(z.looseObject({ src: z.string(), sizes: z.string() })).min(1),
})

it('a browser reads the manifest and every icon under the page’s policy', async () => {
  const page = await desk().visit()
  const session = await page.context().newCDPSession(page)
  const { url, errors, data = '' } = await session.send('Page.getAppManifest')
  expect([url, errors]).toEqual([new URL('desk.webmanifest', desk().url).href, []])
  const { name, icons } = manifestSchema.parse(JSON.parse(data))
  expect(name).toBe('Desk')
  const linked = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=icon], link[rel=apple-touch-icon]')].map(
      ({ href }) => ({ src: href, sizes: 'any' }),
    ),
  )
  expect(linked).toHaveLength(2)
  const loaded = await page.evaluate(
    (sources) =>
      Promise.all(
        sources.map(async (src) => {
          const image = Object.assign(new Image(), { src })
          await image.decode()
          return `${image.naturalWidth}x${image.naturalHeight}`
        }),
      ),
    [...icons, ...linked].map(({ src }) => new URL(src, url).href),
  )
  const sizes = [...icons, ...linked].map((icon, at) => (icon.sizes === 'any' ? 'any' : loaded[at]))
  expect(sizes).toEqual([...icons, ...linked].map((icon) => icon.sizes))
})

const offerOf = (page: Page) => page.locator('[data-test=notification-offer]')

it('a notification tells of an order that ends while nobody sees the tab, and its person is asked for it once', async () => {
  const { sandbox, url } = desk()
  const page = await desk().visitAs('Ada')
  const shown = await installNotifications(page)
  await page.reload()
  sandbox.broker.clock({ open: false, nextOpen: new Date(Date.now() + HOUR_MS).toISOString() })
  await order(page, 'Buy', 'AAPL', '60')
  const card = page.locator('.order').first()
  await card.getByText('Waiting for the market', { exact: true }).waitFor()
  await offerOf(page).scrollIntoViewIfNeeded()
  await screenshot(page, 'notification-offer')
  await page.context().grantPermissions(['notifications'], { origin: new URL(url).origin })
  await offerOf(page).getByRole('button', { name: 'Tell me' }).click()
  await offerOf(page).waitFor({ state: 'detached' })

  const orderId = bytes32Schema.parse(await card.locator('code').first().textContent())
  await page.clock.install()
  await setHidden(page, true)
  sandbox.broker.clock({ open: true })
  const server = createReader({ serverUrl: sandbox.info.url })
  const stateOf = async () => (await server.getOrder(orderId)).state
  await expect.poll(stateOf, { timeout: PATIENCE_MS }).toBe('SETTLED')
  const told = async () => {
    await page.clock.fastForward(A_LOOK_MS)
    return shown
  }
  const one = ['An order has ended. Open the desk to see how.']
  await expect.poll(told, { timeout: PATIENCE_MS }).toEqual(one)
  expect(await told()).toEqual(one)

  await page.reload()
  await order(page, 'Buy', 'MSFT', '60')
  await newestOrder(page, 'SETTLED')
  expect(await offerOf(page).count()).toBe(0)
  expect(shown).toEqual(one)
})
