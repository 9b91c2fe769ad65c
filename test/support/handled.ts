/** What a test begins now and awaits later: its rejection is found there, and goes unhandled neither until then nor after an earlier failure. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}
