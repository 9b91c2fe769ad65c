interface SharedValueOptions<T> {
  readonly load: () => Promise<T>
  /** Until when (Unix ms) a value that was loaded at `loadedAt` may be handed out. */
  readonly freshUntil: (value: T, loadedAt: number) => number
  /** Before when (Unix ms) nobody asks again after this failure. */
  readonly retryAt: (error: unknown, failedAt: number) => number
  readonly now: () => number
}

/** A value that many callers ask for at once and that is loaded once for all of them. */
export interface SharedValue<T> {
  /**
   * The value, while it is fresh; else what the load under way, or a new one, brings.
   * @throws what `load` threw, and the same again without asking until `retryAt`
   */
  get(): Promise<T>
  /** The last value that was loaded, however old. */
  last(): T | undefined
}

export function createSharedValue<T>(options: SharedValueOptions<T>): SharedValue<T> {
  let last: { readonly value: T; readonly freshUntil: number } | undefined
  let failure: { readonly error: unknown; readonly retryAt: number } | undefined
  let loading: Promise<T> | undefined

  async function load(): Promise<T> {
    try {
      const value = await options.load()
      last = { value, freshUntil: options.freshUntil(value, options.now()) }
      failure = undefined
      return value
    } catch (error) {
      failure = { error, retryAt: options.retryAt(error, options.now()) }
      throw error
    } finally {
      loading = undefined
    }
  }

  return {
    last: () => last?.value,
    async get() {
      const now = options.now()
      if (last !== undefined && now < last.freshUntil) return last.value
      if (loading !== undefined) return loading
      if (failure !== undefined && now < failure.retryAt) throw failure.error
      loading = load()
      return loading
    },
  }
}
