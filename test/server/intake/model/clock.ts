/** In the place of `node:timers/promises`, so that what it times follows the test's clock. */
export function setTimeout<T>(
  ms: number,
  value?: T,
  options: { readonly signal?: AbortSignal } = {},
): Promise<T | undefined> {
  const { signal } = options
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve(value)
    }, ms)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}
