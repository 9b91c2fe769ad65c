import { z } from 'zod'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import type { AtomicFiles } from './atomicFiles.js'

/** One value in one file: a line for each version, of which the last whole one counts. */
export interface JsonFile<T> {
  /** Undefined without a file that can be read. @throws StorageError */
  load(): Promise<T | undefined>
  /** Replaces the file. Durable when it resolves. @throws StorageError: the file is as it was */
  save(value: T): Promise<void>
  /** Adds a version to the file. Durable when it resolves. @throws StorageError: a part of it may be in the file */
  append(value: T): Promise<void>
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
  const encode = (value: T) => `${JSON.stringify(z.encode(schema, value))}\n`
  return {
    async load() {
      const text = await files.read(path)
      if (text === undefined) return undefined
      try {
        return schema.parse(lastVersion(text))
      } catch (error) {
        logger.warn('record set aside: it cannot be parsed', { ...name, ...describeError(error) })
        await files.move(path, `${path}.corrupt`)
        return undefined
      }
    },
    save: (value) => files.write(path, encode(value)),
    // Behind whatever part of a line an earlier process may have left.
    append: (value) => files.append(path, `\n${encode(value)}`),
  }
}

/** A line that was cut off by a crash is no JSON: no part of an object is one. @throws SyntaxError when there is no whole one */
function lastVersion(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '')
  const whole = lines.findLast(isJson)
  if (whole === undefined) throw new SyntaxError('no whole version')
  return JSON.parse(whole)
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
