import { type Patient, withPatience } from '../async/waiting.js'

interface SharedValueOptions<T> {
  readonly load: () => Promise<T>
  /** For how long, from its loading, a value is handed out without asking. */
  readonly freshMs: (value: T) => number
  /** For how long it is handed out at once, while a new one is loaded. */
  readonly usableMs: (value: T) => number
  /** That a value is over before its time, and not handed out any more: the steady clock stands still while the machine sleeps. */
  readonly isOver?: (value: T) => boolean
  /**
   * How long a load is waited for, from its start, where there is an older value to give instead. None: to its end, as an
   * older value must not be given.
   */
  readonly patienceMs?: number
  /** For how long nobody asks again after this failure. */
  readonly retryMs: (error: unknown) => number
  /** Milliseconds of a clock that nobody sets: one that is set back would keep an old value fresh. */
  readonly steadyNow: () => number
}

interface Shared<T> {
  readonly value: T
  readonly isFresh: boolean
}

/** A value that many callers ask for at once and that is loaded once for all of them. */
export interface SharedValue<T> {
  /**
   * The value, while it is fresh or usable; else what the load under way, or a new one, brings, and the last value where
   * that takes longer than `patienceMs`.
   * @throws what `load` threw, and the same again without asking for `retryMs`
   */
  get(): Promise<Shared<T>>
  /** The last value that was loaded, however old. */
  last(): T | undefined
}

export function createSharedValue<T>(options: SharedValueOptions<T>): SharedValue<T> {
  let last: { readonly value: T; readonly freshUntil: number; readonly usableUntil: number } | undefined
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined
  let loading: Patient<Shared<T>> | undefined

  async function load(): Promise<Shared<T>> {
    try {
      const value = await options.load()
      const loadedAt = options.steadyNow()
      const freshUntil = loadedAt + options.freshMs(value)
      last = { value, freshUntil, usableUntil: loadedAt + options.usableMs(value) }
      failure = undefined
      return { value, isFresh: true }
    } catch (error) {
      failure = { error, retryAt: options.steadyNow() + options.retryMs(error) }
      throw error
    } finally {
      loading = undefined
    }
  }

  /** What is under way, or a new one; undefined when it is too soon after a failure. */
  function renewed(): Patient<Shared<T>> | undefined {
    if (failure === undefined || options.steadyNow() >= failure.retryAt) {
      loading ??= withPatience(load(), options.patienceMs)
    }
    return loading
  }

  return {
    last: () => last?.value,
    async get() {
      const now = options.steadyNow()
      const known = last !== undefined && options.isOver?.(last.value) ? undefined : last
      if (known !== undefined && now < known.freshUntil) return { value: known.value, isFresh: true }
      const next = renewed()
      if (known !== undefined && now < known.usableUntil) return { value: known.value, isFresh: false }
      if (next === undefined) throw failure?.error
      if (known === undefined) return next.whole
      return (await next.patient) ?? { value: known.value, isFresh: false }
    },
  }
}
