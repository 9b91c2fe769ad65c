import { type ReadonlySignal, signal } from '@preact/signals'

/** The longest pause of a page where nothing moves. */
const LONGEST_MS = 30_000
/** After so long without a stir, the next one has the page ask at once. */
const QUIET_MS = 10_000

/** How long nothing has moved: no one has touched the page, and no order of it has changed. */
export interface Calm {
  /** The pause before the next poll: as long as nothing has moved, within bounds. So each one is about twice the last. */
  pause(leastMs: number): number
  /** Changes when something moves after a while: what is shown is to be asked for at once. */
  readonly stirred: ReadonlySignal<number>
  stir(): void
}

export function createCalm(): Calm {
  let since = Date.now()
  const stirred = signal(0)
  return {
    pause: (leastMs) => Math.max(leastMs, Math.min(LONGEST_MS, Date.now() - since)),
    stirred,
    stir() {
      const quietMs = Date.now() - since
      since = Date.now()
      if (quietMs > QUIET_MS) stirred.value = stirred.peek() + 1
    },
  }
}

const TOUCHES = ['pointerdown', 'pointermove', 'keydown', 'scroll']

/** The calm of this page, which each act of its user ends. */
export function createPageCalm(): Calm {
  const calm = createCalm()
  for (const touch of TOUCHES) document.addEventListener(touch, calm.stir, { capture: true, passive: true })
  return calm
}
