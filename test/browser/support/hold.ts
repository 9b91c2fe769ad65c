import type { Page } from 'playwright-core'

/**
 * Holds back each request of the page to its chain's node that contains the text: a method's name, or a view's selector. Returns a
 * function that releases these requests and lets later ones pass.
 */
export async function holdCalls(page: Page, rpcUrl: string, text: string): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route(
    (url) => url.origin === new URL(rpcUrl).origin,
    async (route) => {
      if (route.request().postData()?.includes(text)) await released.promise
      await route.continue()
    },
  )
  return released.resolve
}
