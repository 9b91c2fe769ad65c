import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { describeApi } from '../../scripts/openapi/document.js'
import { postOrderSchema } from '../../src/protocol/api.js'
import { PAGE_POLICY } from '../../src/server/openapi/router.js'
import { buildApp } from '../support/builtApp.js'
import { useChain } from '../support/chain.js'
import { startHttpServer } from '../support/httpServer.js'
import { useBrowser } from './support/browser.js'
import { screenshot } from './support/screenshot.js'

const chain = useChain()
const open = useBrowser()

const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** The operations of the document, as the page writes them: method and path. */
function operations(): string[] {
  const { paths } = documentSchema.parse(describeApi('1.2.3'))
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

/** Opens /docs of a whole server and waits until Swagger UI has drawn the document. */
async function openDocs() {
  const { app } = await buildApp({ chain: chain() })
  const server = await startHttpServer(app)
  onTestFinished(server.stop)
  const opened = await open()
  const answer = await opened.page.goto(`${server.url}/docs`)
  await opened.page.locator('.opblock').first().waitFor()
  return { ...opened, answer, origin: server.url }
}

test('/docs shows every operation, under its policy, from this server alone', async () => {
  const { page, errors, origins, answer, origin } = await openDocs()
  expect(answer?.headers()['content-security-policy']).toBe(PAGE_POLICY)

  const shown = await page.locator('.opblock-summary').evaluateAll((rows) =>
    rows.map((row) => {
      const text = (part: string) => row.querySelector(part)?.textContent
      // Swagger UI lets a path break after its slashes, by invisible characters.
      return `${text('.opblock-summary-method')} ${text('.opblock-summary-path')?.replaceAll('\u200b', '')}`
    }),
  )
  expect(shown.sort()).toEqual(operations().sort())

  // Below the introduction.
  await page
    .locator('.opblock-tag-section')
    .first()
    .evaluate((section) => section.scrollIntoView())
  await screenshot(page, 'docs')
  expect(errors).toEqual([])
  expect([...origins]).toEqual([origin])
})

test('/docs opens an operation, with a body that the server takes', async () => {
  const { page, errors } = await openDocs()
  const operation = page.locator('.opblock-post').first()
  await operation.locator('.opblock-summary').click()
  await operation.locator('.responses-table').waitFor()
  expect(await operation.textContent()).toContain('Origin')
  const body = await operation.locator('.opblock-section-request-body pre').textContent()
  expect(postOrderSchema.safeParse(JSON.parse(body ?? '')).error).toBeUndefined()
  expect(errors).toEqual([])
})

test('/docs runs nothing inline and asks no other host, whatever gets into it', async () => {
  const elsewhere = await startHttpServer((_req, res) =>
    res.setHeader('Access-Control-Allow-Origin', '*').end(),
  )
  onTestFinished(elsewhere.stop)
  const { page } = await openDocs()
  await page.evaluate(async (url) => {
    const { dataset } = document.body
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      dataset.refused = `${dataset.refused ?? ''} ${effectiveDirective}`
    })
    const script = document.createElement('script')
    script.textContent = 'document.body.dataset.ran = "yes"'
    document.body.append(script)
    await fetch(url).catch(() => undefined)
  }, elsewhere.url)
  const body = page.locator('body')
  // The event comes a little after what was refused.
  const refused = () => body.getAttribute('data-refused')
  await expect.poll(refused, { timeout: 30_000 }).toBe(' script-src-elem connect-src')
  expect(await body.getAttribute('data-ran')).toBeNull()
})
