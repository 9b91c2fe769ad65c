/** The medium of the data directory fails: nothing that was to be written may be taken as written. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  /** The system's, such as `ENOSPC`. */
  readonly code: string | undefined

  constructor(cause: unknown) {
    super('the data directory cannot be read or written', { cause })
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    this.code = typeof code === 'string' ? code : undefined
  }
}
