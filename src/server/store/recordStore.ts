import type { z } from 'zod'
import type { Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'
import { createJsonFile, type JsonFile } from './jsonFile.js'

/**
 * Records of one kind by their id: one JSON file per record. What the rest of the server knows, and a second kind of
 * store would implement, is OrderRecords and ReceiptStore. Every method rejects with StorageError when the medium fails.
 */
export interface FileRecordStore<T> {
  get(id: string): Promise<T | undefined>
  /** Creates or replaces. Durable when it resolves. */
  put(id: string, record: T): Promise<void>
  /**
   * A newer version of a record that is there, in most cases added to its file. Durable when it resolves. A new file takes
   * several times as long, and so does every other one for minutes after the old one was freed, as ext4 steps over
   * freed inodes.
   */
  append(id: string, record: T): Promise<void>
  /** False when there was none. */
  delete(id: string): Promise<boolean>
  /**
   * Moves a record to another store of the same data directory, as it is. False when there is none. The caller keeps
   * others from writing the record meanwhile.
   */
  move(id: string, to: Pick<FileRecordStore<T>, 'pathOf'>): Promise<boolean>
  ids(): Promise<string[]>
  /** Where a record is or would be, relative to the data directory. */
  pathOf(id: string): string
}

interface FileRecordStoreOptions<T> {
  readonly files: AtomicFiles
  /** Relative to the data directory, such as `receipts` or `envelopes/open`. */
  readonly directory: string
  /** Spreads the records over 256 directories by the first two digits of their hex id. */
  readonly sharded: boolean
  /** Parses what is read; encodes what is written, so codecs (hex, addresses, bigint amounts) go both ways. */
  readonly schema: z.ZodType<T>
  readonly logger: Logger
}

/** So many versions are added to a file before it is made anew: it may be read at any time. */
const MAX_ADDED = 64

/** An id becomes a file name: hex, as everything that identifies a record here. */
const RECORD_ID = /^0x[0-9a-f]{2,128}$/
/** Whatever else lies in a directory is not ours. */
const RECORD_FILE = /^(0x[0-9a-f]{2,128})\.json$/

/** A file that can't be parsed is set aside as `<id>.json.corrupt` and counts as absent: see `createJsonFile`. */
export function createFileRecordStore<T>(options: FileRecordStoreOptions<T>): FileRecordStore<T> {
  const { files, directory, sharded, schema, logger } = options
  /** How many versions this process has added to a file. */
  const added = new Map<string, number>()

  function pathOf(id: string): string {
    if (!RECORD_ID.test(id)) throw new TypeError('A record id is lower-case hex.')
    return sharded ? `${directory}/${id.slice(2, 4)}/${id}.json` : `${directory}/${id}.json`
  }

  function fileOf(id: string): JsonFile<T> {
    return createJsonFile({
      files,
      logger,
      schema,
      path: pathOf(id),
      name: { store: directory, recordId: id },
    })
  }

  async function put(id: string, record: T): Promise<void> {
    await fileOf(id).save(record)
    added.delete(id)
  }

  return {
    pathOf,
    get: async (id) => fileOf(id).load(),
    put,
    async append(id, record) {
      const versions = added.get(id) ?? 0
      if (versions === MAX_ADDED) return put(id, record)
      // What the medium fails to take is not built upon: then the next version is a new file.
      added.set(id, MAX_ADDED)
      await fileOf(id).append(record)
      added.set(id, versions + 1)
    },
    delete(id) {
      added.delete(id)
      return files.remove(pathOf(id))
    },
    move(id, to) {
      added.delete(id)
      return files.move(pathOf(id), to.pathOf(id))
    },
    async ids() {
      const shards = sharded ? await files.list(directory) : ['']
      const names = await Promise.all(shards.map((shard) => files.list(`${directory}/${shard}`)))
      return names.flat().flatMap((name) => RECORD_FILE.exec(name)?.[1] ?? [])
    },
  }
}
