import type * as z from 'zod'
import { createKeyedLock } from '../../service/keyedLock.js'
import { describeError, type Logger } from '../../service/logger.js'
import {
  type Change,
  type Engine,
  type Row,
  rowJson,
  storageError,
  type Table,
  type WriteResult,
} from './engine.js'

export interface Entry<T> {
  readonly value: T
  /** A start reads the open documents. */
  readonly isOpen: boolean
  /** Unique among the open documents of its table. */
  readonly uniqueKey?: string | null
}

export interface StoredEntry<T> extends Entry<T> {
  readonly id: string
  readonly version: number
  /** The JSON that it was parsed from. */
  readonly doc: string
}

/** @throws StorageError for a result that no retry changes */
export function refuse(result: WriteResult): void {
  if (result === 'duplicate') throw storageError('UNIQUE_KEY_IN_USE')
  if (result === 'lost-term') throw storageError('LEASE_LOST')
}

/** The documents of one table. Every method rejects with StorageError, also where a stored document cannot be parsed. */
export function createDocuments<T>(options: {
  readonly engine: Engine
  readonly table: Table
  /** Parses stored values. They are written unencoded, with a bigint as decimal text: encoding would cost as much as the write. */
  readonly schema: z.ZodType<T>
  readonly logger: Logger
}) {
  const { engine, table, schema, logger } = options
  const lock = createKeyedLock()

  function toPut(id: string, version: number, { value, isOpen, uniqueKey = null }: Entry<T>): Change {
    return { kind: 'put', table, row: { id, version: version + 1, isOpen, uniqueKey, doc: rowJson(value) } }
  }

  function read(row: Row): StoredEntry<T> {
    return { ...row, value: schema.parse(JSON.parse(row.doc)) }
  }

  function parse(row: Row): StoredEntry<T> {
    try {
      return read(row)
    } catch (error) {
      logger.error('stored record not readable', { store: table, recordId: row.id, ...describeError(error) })
      engine.forget?.(table, row.id)
      throw storageError('UNREADABLE_RECORD', error)
    }
  }

  function parseAll(rows: readonly Row[], parseOne = parse): StoredEntry<T>[] {
    return rows.flatMap((row) => {
      try {
        return [parseOne(row)]
      } catch {
        return []
      }
    })
  }

  async function find(id: string): Promise<StoredEntry<T> | undefined> {
    const row = await engine.get(table, id)
    return row && parse(row)
  }

  /** Retries until no other process has written in between, while this one does nothing else to the document. */
  function repeat(id: string, attempt: () => Promise<WriteResult>): Promise<void> {
    return lock.run(id, async () => {
      for (let result = await attempt(); result !== 'written'; result = await attempt()) refuse(result)
    })
  }

  return {
    get: async (id: string) => (await find(id))?.value,
    find,
    /** The row as it is stored, for callers that may know its document already. */
    row: (id: string) => engine.get(table, id),
    parse,
    /**
     * The documents that exist and can be parsed, in any order; without those that are known already. Does not log the
     * unreadable ones, because pollers ask for the same ids again and again.
     */
    getMany: async (ids: readonly string[], isKnown: (row: Row) => boolean = () => false) =>
      parseAll(
        (await engine.getMany(table, ids)).filter((row) => !isKnown(row)),
        read,
      ),
    /**
     * Changes a document, while this process changes it nowhere else. `change` is called again where another process came
     * first; it returns undefined to write nothing. Durable when it resolves.
     */
    change<R extends Entry<T>>(
      id: string,
      change: (current: StoredEntry<T> | undefined) => R | undefined | Promise<R | undefined>,
    ): Promise<void> {
      return repeat(id, async () => {
        const current = await find(id)
        const next = await change(current)
        if (next === undefined) return 'written'
        return engine.transact([toPut(id, current?.version ?? 0, next)])
      })
    },
    /** Puts a document in the place of any other version. For documents with one writer. Durable when it resolves. */
    put: (id: string, entry: Entry<T>): Promise<void> =>
      repeat(id, async () => {
        const version = (await engine.get(table, id))?.version ?? 0
        return engine.transact([toPut(id, version, entry)])
      }),
    /** Puts a document in the place of `version`, 0 for none, as a part of a transaction. */
    toPut,
    /** Deletes a document that `mayGo`. */
    remove: (id: string, mayGo: (current: StoredEntry<T>) => boolean = () => true): Promise<void> =>
      repeat(id, async () => {
        const current = await find(id)
        if (current === undefined || !mayGo(current)) return 'written'
        return engine.transact([{ kind: 'delete', table, id, version: current.version }])
      }),
    openIds: () => engine.openIds(table),
    /** The open documents that can be parsed; the log names the others. */
    openEntries: async () => parseAll(await engine.open(table)),
    /** Those of them whose unique keys begin with `prefix`. */
    openWithKey: async (prefix: string, limit: number) =>
      parseAll(await engine.openWithKey(table, prefix, limit)),
  }
}

/** One value of one part of the server. Every method rejects with StorageError. */
export type StateDocument<T> = ReturnType<typeof createStateDocument<T>>

export function createStateDocument<T>(
  options: Omit<Parameters<typeof createDocuments<T>>[0], 'table'> & { readonly id: string },
) {
  const documents = createDocuments({ ...options, table: 'state' })
  return {
    load: () => documents.get(options.id),
    /** Durable when it resolves. */
    save: (value: T) => documents.put(options.id, { value, isOpen: true }),
    /** Changes it, whichever server has written it in between. Durable when it resolves. */
    change: (change: (value: T | undefined) => T) =>
      documents.change(options.id, (current) => ({ value: change(current?.value), isOpen: true })),
  }
}
