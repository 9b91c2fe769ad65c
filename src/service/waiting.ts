import { MAX_TIMER_MS } from '../protocol/timeLimit.js'

/** The value of `promise`, or undefined after `ms` (24 days at most). The timer keeps no process alive. */
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

/** Work that some callers wait for until its end, and others for a limited time. */
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
export function createAlarm() {
  let rung = false
  let wake = () => {}
  return {
    /** Wakes the present waiter, or else the next one. */
    ring(): void {
      rung = true
      wake()
    },
    /** Resolves when it rings, after `ms` at the latest. */
    async wait(ms: number): Promise<void> {
      const ringing = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (!rung) await withTimeout(ringing, ms)
      rung = false
    },
  }
}

/** The value of `promise`, or undefined once `signal` aborts: for waits that may be abandoned, such as a read. */
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

/** Keeps the value of `load` for `maxAgeMs`; concurrent callers share one load. A failure is not kept. */
export function createTimedValue<T>(maxAgeMs: number, load: () => Promise<T>): () => Promise<T> {
  let asked: { readonly at: number; readonly value: Promise<T> } | undefined
  return () => {
    if (asked === undefined || performance.now() - asked.at >= maxAgeMs) {
      const mine = { at: performance.now(), value: load() }
      asked = mine
      mine.value.catch(() => {
        if (asked === mine) asked = undefined
      })
    }
    return asked.value
  }
}

/** Maps items like `Promise.all`, but `size` of them at a time. */
export async function inBatches<T, R>(
  items: readonly T[],
  size: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const mapped: R[] = []
  for (let from = 0; from < items.length; from += size) {
    mapped.push(...(await Promise.all(items.slice(from, from + size).map(map))))
  }
  return mapped
}
