import * as z from 'zod'

/** The kinds of documents. `state` holds single values that have no table of their own. */
export const TABLES = ['orders', 'relays', 'runs', 'state', 'cancels', 'bookings'] as const
export type Table = (typeof TABLES)[number]
/** Those of the first schema, which is never edited: a later table is a migration. */
export const FIRST_TABLES = ['orders', 'relays', 'runs', 'state', 'cancels', 'bookings'] as const

export interface Row {
  readonly id: string
  /** 1 for a new document, and one more for each change. */
  readonly version: number
  /** A start reads the open rows and no others. */
  readonly isOpen: boolean
  /** Unique among the open rows of its table. */
  readonly uniqueKey: string | null
  /** JSON. */
  readonly doc: string
}

/** Proof that the writer still holds a lease. */
export interface Fence {
  readonly lease: string
  /** A fresh UUID each time that the lease is taken. */
  readonly term: string
}

export interface LeaseState extends Fence {
  readonly holder: string
  /** Measured by the store's clock; zero or less once another holder may take the lease. */
  readonly expiresInMs: number
}

/**
 * Each lease belongs to one term at a time. Its expiry, by the store's clock, only says when another holder may take it. The fence
 * of each write keeps an earlier term from writing. Every method rejects with StorageError.
 */
export interface Leases {
  /** Takes a lease that is free or has expired, under a fresh term. Undefined while another term has it. */
  take(lease: string, holder: string, ttlMs: number): Promise<Fence | undefined>
  /** Moves the expiry, also of a lease that has expired. False once the term is over. */
  renew(fence: Fence, ttlMs: number): Promise<boolean>
  /** Ends the term, so that the lease is free immediately. */
  release(fence: Fence): Promise<void>
  list(): Promise<LeaseState[]>
}

/** The losses that a commit of this database survives. */
export interface Durability {
  /** The setting with which a crash of the database's machine loses commits that were answered, such as `fsync = off`. */
  readonly fault: string | null
  /** A commit is answered once a standby has it, so a failover to that standby loses none. */
  readonly waitsForStandby: boolean
  /** The synchronous standbys that are connected. Undefined where this user may not see them (`pg_monitor`). */
  readonly standbys: number | undefined
}

/** Two numbers under one id, which several servers change at once without a version. */
export interface Sum {
  readonly id: string
  /** Days since 1970 (UTC). */
  readonly day: number
  /** Counts on its day alone: the first addition of a later day begins at zero. */
  readonly used: bigint
  /** Counts until it is subtracted. Never below zero. */
  readonly kept: bigint
}

/** Adds to a sum, which begins at zero. */
export interface Addition extends Sum {
  readonly kind: 'add'
  /** The most that `used` and `kept` may be together afterwards. */
  readonly limit?: bigint | undefined
  /** A sum of so much at most accepts the addition beyond its limit. */
  readonly exempt?: bigint | undefined
}

/** A `put` inserts version 1, or puts version n in the place of version n - 1. A `delete` is of this version alone. */
export type Change =
  | { readonly kind: 'put'; readonly table: Table; readonly row: Row }
  | { readonly kind: 'delete'; readonly table: Table; readonly id: string; readonly version: number }
  | Addition

/**
 * - `conflict`: another version stands there, or none where there had to be one
 * - `duplicate`: another open row has the unique key
 * - `lost-term`: the lease has been taken again since
 * - `beyond`: an addition would exceed its limit
 *
 * In all four cases the rows are as they were.
 */
export type WriteResult = 'written' | 'conflict' | 'duplicate' | 'lost-term' | 'beyond'

/**
 * Keeps rows durably. Every method rejects with StorageError when the medium fails. A write that rejects may have happened,
 * where only the answer was lost: the repeat finds its own version and ends as a conflict.
 */
export interface Engine {
  readonly isShared: boolean
  /** Reads durable versions only. */
  get(table: Table, id: string): Promise<Row | undefined>
  /** Engines that keep rows in memory read this one from the medium again, where an operator may have mended it. */
  forget?(table: Table, id: string): void
  /** The rows that exist, in any order. */
  getMany(table: Table, ids: readonly string[]): Promise<Row[]>
  /** The open rows, in any order. */
  open(table: Table): Promise<Row[]>
  /** Their ids, without reading their documents. */
  openIds(table: Table): Promise<string[]>
  /** Open rows whose unique keys begin with `prefix`, in the order of the keys. A prefix is of ASCII. */
  openWithKey(table: Table, prefix: string, limit: number): Promise<Row[]>
  /** Rows that are not open, behind the id `after`, in the order of their ids. */
  closed(table: Table, after: string, limit: number): Promise<Row[]>
  /**
   * Makes all of the changes, in their order, or none. Durable when it resolves. Additions come first, in one order everywhere, so that
   * transactions of several servers cannot deadlock.
   *
   * @returns why the first change that is not possible is not
   */
  transact(changes: readonly Change[], fence?: Fence): Promise<WriteResult>
  /** The sums that exist, in any order. Reads durable ones only. */
  sums(ids: readonly string[]): Promise<Sum[]>
  readonly leases: Leases
  /** Asks a database that others keep. SQLite has no such question: its file is the server's own. */
  durability?(): Promise<Durability>
  /** Resolves when every write has been answered and the medium is closed. */
  stop(): Promise<void>
}

/** Columns of rows, sums and leases, as either engine's driver gives them: SQLite has no booleans, and sums are selected as text. */
export const storedRow = z
  .object({
    id: z.string(),
    version: z.int(),
    is_open: z.union([z.boolean(), z.literal([0, 1]).transform((value) => value === 1)]),
    unique_key: z.string().nullable(),
    doc: z.string(),
  })
  .transform(({ is_open: isOpen, unique_key: uniqueKey, ...row }): Row => ({ ...row, isOpen, uniqueKey }))

export const storedSum: z.ZodType<Sum> = z.object({
  id: z.string(),
  day: z.int(),
  used: z.string().transform(BigInt),
  kept: z.string().transform(BigInt),
})

export const storedLease = z
  .object({ name: z.string(), term: z.string(), holder: z.string(), expires_in_ms: z.number() })
  .transform(
    ({ name: lease, expires_in_ms: expiresInMs, ...rest }): LeaseState => ({ lease, ...rest, expiresInMs }),
  )

/** The bound behind each unique key that begins with a prefix of ASCII. */
export const endOfKeys = (prefix: string): string => `${prefix}\x7f`

/** JSON with a bigint as decimal text. */
export function rowJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? each.toString() : each))
}

/** The medium of the stores fails. The write does not count as done. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError'
  /** The engine's, such as `SQLITE_FULL`. */
  readonly code: string | undefined

  constructor(cause: unknown) {
    super('the store cannot be read or written', { cause })
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    this.code = typeof code === 'string' ? code : undefined
  }
}

/** The medium has rolled back one statement because of its values or of a concurrent one. It would accept others. */
export class StatementError extends StorageError {
  override readonly name = 'StatementError'
}

/** @param code such as `SQLITE_FULL` */
export function storageError(code: string, cause?: unknown): StorageError {
  return new StorageError(Object.assign(new Error(code, { cause }), { code }))
}

/** No server may work on the database: another version or deployment has written it, or it has a setting that loses writes. */
export class UnusableDatabaseError extends Error {
  override readonly name = 'UnusableDatabaseError'
}

/** A later version of the server has written the database. @throws UnusableDatabaseError */
export function refuseSchema(found: number, known: number): never {
  throw new UnusableDatabaseError(
    `its database has schema ${found}, and this server knows schemas up to ${known}. ` +
      'Start the version that wrote it, or a later one.',
  )
}

interface Waiting<W> {
  readonly write: W
  readonly resolve: (result: WriteResult) => void
  readonly reject: (error: StorageError) => void
}

/**
 * Writes that travel together. Each group holds those of one turn of the event loop, or of the time in which the group before was
 * committed.
 *
 * @param commit answers each write for itself. When it rejects, nothing of the group has been written
 * @param keyOf orders the writes of a group; default: the order of the calls
 */
export function createGroups<W>(
  commit: (group: readonly W[]) => Promise<readonly WriteResult[]>,
  maxWrites: number,
  keyOf: (write: W) => string = () => '',
) {
  let waiting: Waiting<W>[] = []
  /** So many of the next ones travel alone. */
  let alone = 0
  let committing: Promise<void> | undefined

  async function commitAll(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const group = waiting.splice(0, alone > 0 ? 1 : maxWrites)
      alone = Math.max(0, alone - 1)
      const keyed = group.map((each) => ({ ...each, key: keyOf(each.write) }))
      await commitGroup(keyed.sort(({ key: a }, { key: b }) => (a === b ? 0 : a < b ? -1 : 1)))
    }
    committing = undefined
  }

  async function commitGroup(group: readonly Waiting<W>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ write }) => write))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] ?? 'conflict')
    } catch (error) {
      const failure = error instanceof StorageError ? error : new StorageError(error)
      const isOfOne = failure instanceof StatementError
      if (isOfOne && group.length > 1) {
        // One refused write rolls its whole group back, so each is tried alone: then only that one fails.
        waiting = [...group, ...waiting]
        alone += group.length
        return
      }
      for (const { reject } of group) reject(failure)
      // Where the medium fails, so do the writes that wait: each further group would take as long to fail.
      for (const { reject } of isOfOne ? [] : waiting.splice(0)) reject(failure)
    }
  }

  return {
    write: (write: W): Promise<WriteResult> =>
      new Promise((resolve, reject) => {
        waiting.push({ write, resolve, reject })
        committing ??= commitAll()
      }),
    async idle(): Promise<void> {
      while (committing !== undefined) await committing
    },
  }
}
