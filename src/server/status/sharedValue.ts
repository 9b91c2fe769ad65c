interface SharedValueOptions<T> {
  readonly load: () => Promise<T>
  /** Until when (Unix ms) a value that was loaded at `loadedAt` is handed out without asking. */
  readonly freshUntil: (value: T, loadedAt: number) => number
  /** Until when (Unix ms) it is handed out at once, while a new one is loaded. */
  readonly usableUntil: (value: T, loadedAt: number) => number
  /** Before when (Unix ms) nobody asks again after this failure. */
  readonly retryAt: (error: unknown, failedAt: number) => number
  readonly now: () => number
}

interface Shared<T> {
  readonly value: T
  readonly isFresh: boolean
}

/** A value that many callers ask for at once and that is loaded once for all of them. */
export interface SharedValue<T> {
  /**
   * The value, while it is fresh or usable; else what the load under way, or a new one, brings.
   * @throws what `load` threw, and the same again without asking until `retryAt`
   */
  get(): Promise<Shared<T>>
  /** The last value that was loaded, however old. */
  last(): T | undefined
}

export function createSharedValue<T>(options: SharedValueOptions<T>): SharedValue<T> {
  let last: { readonly value: T; readonly freshUntil: number; readonly usableUntil: number } | undefined
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined
  let loading: Promise<T> | undefined

  async function load(): Promise<T> {
    try {
      const value = await options.load()
      const loadedAt = options.now()
      const freshUntil = options.freshUntil(value, loadedAt)
      last = { value, freshUntil, usableUntil: options.usableUntil(value, loadedAt) }
      failure = undefined
      return value
    } catch (error) {
      failure = { error, retryAt: options.retryAt(error, options.now()) }
      throw error
    } finally {
      loading = undefined
    }
  }

  /** What is under way, or a new one unless it is too soon after a failure. */
  async function renewed(): Promise<T> {
    if (loading !== undefined) return loading
    if (failure !== undefined && options.now() < failure.retryAt) throw failure.error
    loading = load()
    return loading
  }

  return {
    last: () => last?.value,
    async get() {
      const now = options.now()
      if (last !== undefined && now < last.freshUntil) return { value: last.value, isFresh: true }
      const next = renewed()
      if (last !== undefined && now < last.usableUntil) {
        // Whoever comes after its time hears of a failure.
        next.catch(() => undefined)
        return { value: last.value, isFresh: false }
      }
      return { value: await next, isFresh: true }
    },
  }
}
