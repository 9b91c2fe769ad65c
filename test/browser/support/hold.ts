import type { Page } from 'playwright-core'

/**
 * Holds back what the page asks its chain's node by one method. Returns what lets it go, that which has been asked and
 * that which will be.
 */
export async function holdCalls(page: Page, rpcUrl: string, method: string): Promise<() => void> {
  let letGo = () => {}
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route(
    (url) => url.origin === new URL(rpcUrl).origin,
    async (route) => {
      if (route.request().postData()?.includes(`"${method}"`)) await released
      await route.continue()
    },
  )
  return letGo
}
