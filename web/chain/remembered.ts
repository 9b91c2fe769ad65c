/** A question that is asked again and again. What is known before the whole answer may be told meanwhile. */
export type Ask<T> = (signal: AbortSignal, tell: (value: T) => void) => Promise<T>

/**
 * The same question; whoever asks it hears first what was known when it was last asked, perhaps by another screen or
 * hours ago: more may have come, so that is not complete. Who asks again with the same signal has heard it already.
 */
export function remembered<T extends { readonly complete: boolean }>(ask: Ask<T>): Ask<T> {
  const heard = new WeakSet<AbortSignal>()
  let last: { readonly value: T } | null = null
  return async (signal, tell) => {
    if (last !== null && !heard.has(signal)) tell({ ...last.value, complete: false })
    heard.add(signal)
    const keep = (value: T) => {
      // Another one may have asked since, and know more.
      if (!signal.aborted) last = { value }
    }
    const value = await ask(signal, (part) => {
      keep(part)
      tell(part)
    })
    keep(value)
    return value
  }
}
