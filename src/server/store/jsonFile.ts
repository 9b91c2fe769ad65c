import { z } from 'zod'
import { describeError, type LogFields, type Logger } from '../logger.js'
import type { AtomicFiles } from './atomicFiles.js'

/** One value in one file. */
export interface JsonFile<T> {
  /** Undefined without a file that can be read. @throws StorageError */
  load(): Promise<T | undefined>
  /** Durable when it resolves. @throws StorageError */
  save(value: T): Promise<void>
}

interface JsonFileOptions<T> {
  readonly files: AtomicFiles
  /** Relative to the data directory. */
  readonly path: string
  /** Parses what is read; encodes what is written, so codecs (hex, addresses, bigint amounts) go both ways. */
  readonly schema: z.ZodType<T>
  readonly logger: Logger
  /** What the log calls the file; its path when left out. */
  readonly name?: Pick<LogFields, 'store' | 'recordId'>
}

/**
 * A file that can't be parsed is set aside as `<path>.corrupt` with a warning and counts as absent: the data directory
 * is a cache, and one bad file must not keep a server from starting.
 */
export function createJsonFile<T>(options: JsonFileOptions<T>): JsonFile<T> {
  const { files, path, schema, logger, name = { store: path } } = options
  return {
    async load() {
      const text = await files.read(path)
      if (text === undefined) return undefined
      try {
        return schema.parse(JSON.parse(text))
      } catch (error) {
        logger.warn('record set aside: it cannot be parsed', { ...name, ...describeError(error) })
        await files.move(path, `${path}.corrupt`)
        return undefined
      }
    },
    save: (value) => files.write(path, `${JSON.stringify(z.encode(schema, value))}\n`),
  }
}
