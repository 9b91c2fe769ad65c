import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Hex, OrderStatus } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'

/** The browser's own notifications, which show while the page's tab is in the background. */
export interface Notifier {
  /** `unsupported` also where the browser wants a service worker for them, as on Android. */
  permission(): NotificationPermission | 'unsupported'
  request(): Promise<NotificationPermission>
  show(title: string, text: string): void
}

/** Tells of an order's end while the page is hidden. A visible page shows it by itself. */
export interface EndNotifications {
  /** Whether its owner has neither allowed nor refused them. */
  readonly isUndecided: ReadonlySignal<boolean>
  allow(): Promise<void>
  refuse(): void
}

interface NotificationDeps {
  readonly isSeen: ReadonlySignal<boolean>
  readonly notifier: Notifier
  /** The orders of this page that have not ended as far as it knows. */
  readonly open: () => readonly Hex[]
  readonly ask: (orderId: Hex, signal: AbortSignal) => Promise<Pick<OrderStatus, 'state'>>
}

const DECIDED = 'desk:notifications'
/** A hidden page asks for few orders, and rarely: this is all that it asks for. */
const [MOST, PAUSE_MS] = [5, 30_000]

export function createEndNotifications({ isSeen, notifier, open, ask }: NotificationDeps): EndNotifications {
  const isUndecided = signal(notifier.permission() === 'default' && localStorage.getItem(DECIDED) === null)
  function decide() {
    localStorage.setItem(DECIDED, 'asked')
    isUndecided.value = false
  }
  effect(() => {
    if (isSeen.value || notifier.permission() !== 'granted') return
    const watched = new Set(open().slice(0, MOST))
    const seen = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      for (const orderId of watched) {
        // A failure is no end: the next look may succeed.
        const status = await ask(orderId, seen.signal).catch(() => null)
        if (seen.signal.aborted) return
        if (status === null || !hasEnded(status)) continue
        watched.delete(orderId)
        // Others may read the screen, and devices may pass notifications on.
        notifier.show('An order has ended', 'Open the desk to see how.')
      }
      if (watched.size > 0) timer = setTimeout(look, PAUSE_MS)
    }
    if (watched.size > 0) timer = setTimeout(look, PAUSE_MS)
    return () => {
      seen.abort()
      clearTimeout(timer)
    }
  })
  return {
    isUndecided,
    async allow() {
      await notifier.request()
      decide()
    },
    refuse: decide,
  }
}
