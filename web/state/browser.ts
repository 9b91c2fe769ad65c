import { type ReadonlySignal, signal } from '@preact/signals'
import { createStore, get, set } from 'idb-keyval'
import type { Notifier } from './endNotifications.js'

/** The page's routes: the part of its address after `#/`. */
export const ROUTES = ['desk', 'institution', 'operator'] as const
export type Route = (typeof ROUTES)[number]

/** The browser's part of the page's state. It lasts as long as the page. */
export interface BrowserState {
  readonly route: ReadonlySignal<Route>
  /** Whether the page is visible: its tab is in front and the screen is unlocked. */
  readonly isSeen: ReadonlySignal<boolean>
  /** The current time in milliseconds, updated every second while it is shown. */
  readonly now: ReadonlySignal<number>
}

const TICK_MS = 1_000

export function createBrowserState(): BrowserState {
  const route = signal(routeOf(location.hash))
  window.addEventListener('hashchange', () => {
    route.value = routeOf(location.hash)
  })
  return { route, isSeen: createIsSeen(), now: createNow() }
}

/** The route in the address; the desk by default. */
export function routeOf(hash: string): Route {
  return ROUTES.find((route) => hash === `#/${route}`) ?? 'desk'
}

function createIsSeen(): ReadonlySignal<boolean> {
  const isSeen = signal(!document.hidden)
  document.addEventListener('visibilitychange', () => {
    isSeen.value = !document.hidden
  })
  return isSeen
}

function createNow(): ReadonlySignal<number> {
  let timer: ReturnType<typeof setInterval> | undefined
  const now = signal(Date.now(), {
    watched() {
      const tick = () => {
        now.value = Date.now()
      }
      tick()
      timer = setInterval(tick, TICK_MS)
    },
    unwatched: () => clearInterval(timer),
  })
  return now
}

/** Saves a file through the browser; JSON by default. */
export function saveFile(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Notifications of the page's own; on Android a service worker alone may show them. */
export function createNotifier(): Notifier {
  const isSupported = 'Notification' in window && !/\bAndroid\b/.test(navigator.userAgent)
  return {
    permission: () => (isSupported ? Notification.permission : 'unsupported'),
    request: () => Notification.requestPermission(),
    show(title, body) {
      const shown = new Notification(title, { body, icon: './icon.svg' })
      shown.onclick = () => {
        window.focus()
        shown.close()
      }
    },
  }
}

/** Keeps bytes on this device, under names. Callers seal what is secret. */
export interface DeviceStore {
  get(name: string): Promise<Uint8Array | null>
  set(name: string, bytes: Uint8Array): Promise<void>
}

/** A table of IndexedDB: `localStorage` holds about 5 MB, and open orders need it. Methods reject where the browser forbids it. */
export function createDeviceStore(): DeviceStore {
  const table = createStore('desk-device', 'kept')
  return {
    async get(name) {
      const found: unknown = await get(name, table)
      return found instanceof Uint8Array ? found : null
    },
    set: async (name, bytes) => set(name, bytes, table),
  }
}
