import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'

/** What `promise` resolves to, or undefined when `ms`, or 24 days, pass before. The timer keeps no process alive. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(Math.max(0, ms), MAX_TIMER_MS))
    timer.unref()
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Work under way: some callers wait for its end, others for a limited time. */
export interface Patient<T> {
  readonly whole: Promise<T>
  /** The same, or undefined once `ms` have passed from its beginning. */
  readonly patient: Promise<T | undefined>
}

/**
 * One timer, from now, for all callers: a later caller waits for less, or not at all. Without `ms` all wait to the end.
 * A rejection of either promise may go unhandled.
 */
export function withPatience<T>(whole: Promise<T>, ms: number | undefined): Patient<T> {
  const patient = ms === undefined ? whole : withTimeout(whole, ms)
  whole.catch(() => undefined)
  patient.catch(() => undefined)
  return { whole, patient }
}

/** Wakes one waiter before its time. */
export interface Alarm {
  /** Wakes the present waiter, or else the next one. */
  ring(): void
  /** Resolves when it rings, after `ms` at the latest. */
  wait(ms: number): Promise<void>
}

export function createAlarm(): Alarm {
  let rung = false
  let wake = () => {}
  return {
    ring() {
      rung = true
      wake()
    },
    async wait(ms) {
      const ringing = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (!rung) await withTimeout(ringing, ms)
      rung = false
    },
  }
}

/** What `promise` comes to, or undefined once `signal` aborts: for a wait that may be left behind, such as a read. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop = () => {}
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
