/**
 * Waits for the previous operation, which never rejects.
 * @throws the signal's reason, as soon as it aborts
 */
export async function turnAfter(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
    signal?.addEventListener('abort', leave)
  })
  await Promise.race([before, left])
  signal?.removeEventListener('abort', leave)
  signal?.throwIfAborted()
}
