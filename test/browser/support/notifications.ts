import type { Page } from 'playwright-core'

declare function noteNotification(text: string): void

/**
 * Notes every notification that the page's later documents show, in the array that it returns. Chromium without windows refuses them: there
 * the document gets a system whose person allows them when asked.
 */
export async function installNotifications(page: Page): Promise<readonly string[]> {
  const shown: string[] = []
  await page.exposeFunction('noteNotification', (text: string) => shown.push(text))
  await page.addInitScript(() => {
    class Shown extends Notification {
      constructor(title: string, options: NotificationOptions = {}) {
        super(title, options)
        this.addEventListener('show', () => noteNotification(`${title}. ${options.body}`))
      }
    }
    class System {
      static get permission() {
        return sessionStorage.getItem('notifications') ?? 'default'
      }
      static async requestPermission() {
        sessionStorage.setItem('notifications', 'granted')
        return 'granted'
      }
      constructor(title: string, options: NotificationOptions = {}) {
        noteNotification(`${title}. ${options.body}`)
      }
    }
    Object.assign(window, { Notification: Notification.permission === 'denied' ? System : Shown })
  })
  return shown
}
