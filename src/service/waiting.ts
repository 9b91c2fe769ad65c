import { setTimeout as sleep } from 'node:timers/promises'
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

/** Waits, and keeps no process alive. Resolves with false as soon as `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal, ref: false }).catch(() => false)
}

/** Lets one call through at a time, and answers the others at once. */
export function oneAtATime<Arguments extends readonly unknown[], T>(
  work: (...given: Arguments) => Promise<T>,
): (...given: Arguments) => Promise<T | 'busy'> {
  let isUnderWay = false
  return async (...given) => {
    if (isUnderWay) return 'busy'
    isUnderWay = true
    try {
      return await work(...given)
    } finally {
      isUnderWay = false
    }
  }
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
  const isOver = (_value: T, ageMs: number) => ageMs >= maxAgeMs
  const shared = createSharedValue({ load, freshMs: () => maxAgeMs, isOver, joinMs: maxAgeMs })
  return async () => (await shared.get()).value
}

interface Shared<T> {
  readonly value: T
  readonly isFresh: boolean
}

/** A load that some callers wait for until its end, and others for a limited time. */
interface Loading<T> {
  readonly since: number
  readonly whole: Promise<Shared<T>>
  /** The same, or undefined once the patience has passed from its beginning. */
  readonly patient: Promise<Shared<T> | undefined>
}

/**
 * A value that all callers share, and so do those who wait for its load. Ages are measured by the monotonic clock, from the beginning
 * of a load: the answer may be as old as the question.
 */
export function createSharedValue<T>(options: {
  readonly load: () => Promise<T>
  /** How long a value is fresh. */
  readonly freshMs: (value: T) => number
  /** How long it serves while a new one is loading; default: not at all. */
  readonly usableMs?: (value: T) => number
  /** Whether a value does not even serve where no other is to be had; default: never. */
  readonly isOver?: (value: T, ageMs: number) => boolean
  /** How long callers wait for a load, from its beginning, where there is an older value or an earlier failure; default: to its end. */
  readonly patienceMs?: number
  /** Pause before the next load after this failure; default: none. */
  readonly retryMs?: (error: unknown) => number
  /** Until when callers join a load that is under way; default: to its end. */
  readonly joinMs?: number
  /** Whether a value replaces one that is still fresh; default: always. */
  readonly replaces?: (next: T, fresh: T) => boolean
}) {
  const { patienceMs, joinMs = Number.POSITIVE_INFINITY } = options
  let last: { readonly value: T; readonly since: number } | undefined
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined
  let loading: Loading<T> | undefined
  /** How often what was known was declared outdated. */
  let expired = 0

  const ageMs = () => (last === undefined ? Number.POSITIVE_INFINITY : performance.now() - last.since)

  function fresh(): Shared<T> | undefined {
    if (last === undefined || ageMs() >= options.freshMs(last.value)) return undefined
    return { value: last.value, isFresh: true }
  }

  function keep(value: T, since: number): void {
    failure = undefined
    const before = fresh()
    if (before === undefined || options.replaces?.(value, before.value) !== false) last = { value, since }
  }

  /** Keeps no value that was declared outdated during the read. */
  async function ask(read: () => Promise<T>, since = performance.now()): Promise<T> {
    const before = expired
    const value = await read()
    if (before === expired) keep(value, since)
    return value
  }

  async function load(since: number): Promise<Shared<T>> {
    try {
      return { value: await ask(options.load, since), isFresh: true }
    } catch (error) {
      failure = { error, retryAt: performance.now() + (options.retryMs?.(error) ?? 0) }
      throw error
    }
  }

  function begin(): Loading<T> {
    const since = performance.now()
    const whole = load(since)
    // One timer for all callers: a later one waits for less, or not at all.
    const patient = patienceMs === undefined ? whole : withTimeout(whole, patienceMs)
    const mine = { since, whole, patient }
    loading = mine
    const clear = () => {
      if (loading === mine) loading = undefined
    }
    whole.then(clear, clear)
    patient.catch(() => undefined)
    return mine
  }

  function join(): Loading<T> {
    return loading !== undefined && performance.now() - loading.since < joinMs ? loading : begin()
  }

  return {
    /**
     * The value while it is fresh or usable; else the result of a load, or the last value once `patienceMs` have passed.
     * @throws the error of `load`, and the same error again for `retryMs`
     */
    async get(): Promise<Shared<T>> {
      const known = last !== undefined && options.isOver?.(last.value, ageMs()) ? undefined : last
      const current = known && fresh()
      if (current !== undefined) return current
      const failed = failure
      const next = failed === undefined || performance.now() >= failed.retryAt ? join() : undefined
      const older = known && { value: known.value, isFresh: false }
      if (older !== undefined && ageMs() < (options.usableMs?.(older.value) ?? 0)) return older
      if (next === undefined) throw failed?.error
      if (older === undefined && failed === undefined) return next.whole
      const found = (await next.patient) ?? older
      if (found === undefined) throw failed?.error
      return found
    },
    /** The fresh value, or the result of a load; undefined once `patienceMs` have passed from its beginning. */
    inTime: async (): Promise<T | undefined> => (fresh() ?? (await join().patient))?.value,
    /** The result of a load that begins now, or is under way. */
    join: async () => (await join().whole).value,
    /** The last value, however old. */
    last: () => last?.value,
    /** Milliseconds since it was asked for. */
    ageMs,
    /** Another part's own read of the value, which is kept here. @throws its error */
    ask: (read: () => Promise<T>): Promise<T> => ask(read),
    /** Notes a value that another part has just found. */
    note: (value: T) => keep(value, performance.now()),
    /** What is known is outdated, and so is what a load under way finds. Loads nothing. */
    expire(): void {
      expired++
      last = undefined
      failure = undefined
      loading = undefined
    },
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
