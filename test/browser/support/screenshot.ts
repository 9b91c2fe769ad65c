import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Where the documentation has its images. */
const KEPT = 'docs/images'
/** Ignored by git: every machine draws its text a little differently. */
const SCRATCH = 'data/screenshots'

/**
 * Takes a picture of what is visible. It goes into the documentation only when `KEEP_SCREENSHOTS` is set:
 * `KEEP_SCREENSHOTS=true npm run test:browser`.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.KEEP_SCREENSHOTS ? KEPT : SCRATCH
  await page.screenshot({ path: join(directory, `${name}.png`), animations: 'disabled' })
}
