/** The question, asked once however often the answer is wanted, also while it has not come. It is asked again after a failure. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = null
      throw error
    })
    return asked
  }
}
