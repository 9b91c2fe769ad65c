/** A question that is asked again and again. What is known before the whole answer may be told meanwhile. */
export type Ask<T> = (signal: AbortSignal, tell: (value: T) => void) => Promise<T>

/** The same question; whoever asks it hears first what was known when it was last asked, perhaps by another screen. */
export function remembered<T>(ask: Ask<T>): Ask<T> {
  let last: { readonly value: T } | null = null
  return async (signal, tell) => {
    if (last !== null) tell(last.value)
    const value = await ask(signal, (part) => {
      last = { value: part }
      tell(part)
    })
    last = { value }
    return value
  }
}
