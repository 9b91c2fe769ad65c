import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import * as z from 'zod'

const resultSchema = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullable(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
)

/** How many pixels of the page, or of a table in it, a reader of a narrow screen has to scroll sideways for. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const parts = [document.documentElement, ...document.querySelectorAll('.scroll')]
    return Math.max(...parts.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  })
}

/** Every rule, but details of violations only, without selectors: these take most of axe's time. */
const RUN = "axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations)"

/** All findings of axe on the page, of any weight: `rule: element`. */
export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    // Evaluated by the debugger, which the page's policy does not bind.
    await page.evaluate(source)
  }
  const found: unknown = await page.evaluate(RUN)
  return resultSchema
    .parse(found)
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    )
}

/** The screen is accessible, and no wider than the page. */
export async function expectFit(page: Page): Promise<void> {
  expect(await overflowOf(page)).toBe(0)
  expect(await findViolations(page)).toEqual([])
}
