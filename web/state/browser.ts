import { type ReadonlySignal, signal } from '@preact/signals'

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

export function createIsSeen(): ReadonlySignal<boolean> {
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
