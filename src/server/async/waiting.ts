import { MAX_TIMER_MS } from '../../protocol/timeLimit.js'

/** What `promise` resolves to, or undefined when `ms`, or 24 days, pass before. The timer keeps no process alive. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
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

/** Something under way for which some wait to its end, and others for a while. */
export interface Patient<T> {
  readonly whole: Promise<T>
  /** The same, or undefined once `ms` have passed from its beginning. */
  readonly patient: Promise<T | undefined>
}

/**
 * One timer, from now, for all who wait: whoever comes later waits for less, or not at all. Without `ms` all wait to the end.
 * Neither promise needs anybody to hear of its failure.
 */
export function withPatience<T>(whole: Promise<T>, ms: number | undefined): Patient<T> {
  const patient = ms === undefined ? whole : within(whole, ms)
  whole.catch(() => undefined)
  patient.catch(() => undefined)
  return { whole, patient }
}

/** Wakes one waiter before its time. */
export interface Alarm {
  /** Wakes whoever waits, or else whoever waits next. */
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
      if (!rung) await within(ringing, ms)
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
