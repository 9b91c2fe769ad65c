import { expect, onTestFinished, test } from 'vitest'
import { OPERATIONS } from '../../scripts/openapi/operations.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import { buildApp } from '../support/builtApp.js'
import { useChain } from '../support/chain.js'
import { startHttpServer } from '../support/httpServer.js'
import { PATIENCE_MS, useChromium, VIEWPORT } from './support/browser.js'
import { screenshot } from './support/screenshot.js'

const chain = useChain()

/** The operations of the document, as the page writes them. */
const operations = OPERATIONS.map(
  ({ method, path }) => `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`,
)

test('/docs shows every operation, under a policy that runs nothing inline, from this server alone', async () => {
  const { app } = await buildApp({ chain: chain() })
  const server = await startHttpServer(app)
  onTestFinished(server.stop)
  const context = await (await useChromium()).newContext({ viewport: VIEWPORT })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const [errors, origins] = [new Set<string>(), new Set<string>()]
  page.on('console', (message) => message.type() === 'error' && errors.add(message.text()))
  page.on('pageerror', (error) => errors.add(String(error)))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    // Data inside a stylesheet goes over no network.
    if (protocol !== 'data:') origins.add(origin)
  })
  const answer = await page.goto(`${server.url}/docs`)
  await page.locator('.opblock').first().waitFor()
  const policy = answer?.headers()['content-security-policy']
  expect(policy).toMatch(/default-src 'none';script-src 'self';style-src 'self';.*connect-src 'self'/)
  expect(policy).not.toMatch(/unsafe|https?:|\*/)

  const shown = await page.locator('.opblock-summary').evaluateAll((rows) =>
    rows.map((row) => {
      const text = (part: string) => row.querySelector(part)?.textContent
      // Swagger UI lets a path break after its slashes, by invisible characters.
      return `${text('.opblock-summary-method')} ${text('.opblock-summary-path')?.replaceAll('\u200b', '')}`
    }),
  )
  expect(shown.sort()).toEqual(operations.toSorted())

  // Below the introduction.
  await page
    .locator('.opblock-tag-section')
    .first()
    .evaluate((section) => section.scrollIntoView())
  await screenshot(page, 'docs')
  const operation = page.locator('.opblock-post').filter({ has: page.locator('[data-path="/orders"]') })
  await operation.locator('.opblock-summary').click()
  const body = await operation.locator('.opblock-section-request-body pre').textContent()
  expect(postOrderSchema.safeParse(JSON.parse(body ?? '')).error).toBeUndefined()
  expect([...errors]).toEqual([])
  expect([...origins]).toEqual([server.url])
})
