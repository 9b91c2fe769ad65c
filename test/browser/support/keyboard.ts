import type { Locator, Page } from 'playwright-core'

/** Twice what any screen has to stop at: a list that arrives meanwhile may take the focus back to the beginning. */
const MOST_STOPS = 160

/** Moves the focus to an element, as somebody does who has a keyboard alone. @throws Error when it is not reached */
export async function tabTo(page: Page, element: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if (await element.evaluate((found) => found === document.activeElement)) return
    await page.keyboard.press(key)
  }
  throw new Error(`${element} is not reached by ${key}`)
}
