/** The medium of the stores fails. The write must not be taken as done. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  /** The engine's, such as `SQLITE_FULL`. */
  readonly code: string | undefined

  constructor(cause: unknown) {
    super('the store cannot be read or written', { cause })
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    this.code = typeof code === 'string' ? code : undefined
  }
}

/** @param code such as `SQLITE_FULL` */
export function storageError(code: string, cause?: unknown): StorageError {
  return new StorageError(Object.assign(new Error(code, { cause }), { code }))
}

/** A later version of the server has written the database. */
export class UnknownSchemaError extends Error {
  override readonly name = 'UnknownSchemaError'

  constructor(found: number, known: number) {
    super(
      `its database has schema ${found}, and this server knows schemas up to ${known}. ` +
        'Start the version that wrote it, or a later one.',
    )
  }
}

/** The database answers commits that a crash of its machine may take back. */
export class UndurableDatabaseError extends Error {
  override readonly name = 'UndurableDatabaseError'

  constructor(setting: string) {
    super(
      `its database has ${setting}, so a crash could lose accepted orders and reuse their nonces. ` +
        'Change the setting, and start again.',
    )
  }
}
