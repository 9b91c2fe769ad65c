import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** What the stores use of a file system. `node:fs/promises` is one too. */
export interface FileSystem {
  open(path: string, flags: OpenFlags, mode?: number): Promise<OpenFile>
  readFile(path: string, encoding: 'utf8'): Promise<string>
  readdir(path: string): Promise<string[]>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string, options: { recursive: true; mode: number }): Promise<unknown>
}

/** To read; to write a new file; or to write at the end of one that is there. */
export type OpenFlags = 'r' | 'wx' | typeof APPEND
export const APPEND = fs.constants.O_WRONLY | fs.constants.O_APPEND

/** Must be closed by whoever opened it. */
export interface OpenFile {
  writeFile(text: string, encoding: 'utf8'): Promise<void>
  /** fsync(2). */
  sync(): Promise<void>
  close(): Promise<void>
}

const open = promisify(fs.open)
const writeFile = promisify(fs.writeFile)
const fsync = promisify(fs.fsync)
const readdir = promisify(fs.readdir)

/**
 * The machine's own, by the callbacks of `node:fs`: an open file is a number. The handle objects of
 * `node:fs/promises` cost more than the writing of a small file.
 */
export const nodeFileSystem: FileSystem = {
  async open(path, flags, mode) {
    const descriptor = await open(path, flags, mode)
    return {
      writeFile: (text, encoding) => writeFile(descriptor, text, encoding),
      sync: () => fsync(descriptor),
      // What was written has been synced: nothing is left that closing could wait for.
      close: async () => fs.closeSync(descriptor),
    }
  },
  readFile: promisify(fs.readFile),
  readdir: (path) => readdir(path),
  rename: promisify(fs.rename),
  unlink: promisify(fs.unlink),
  mkdir: promisify(fs.mkdir),
}

/**
 * The machine's own for a thread that does nothing else: each call is made at once, instead of by a pool of threads and
 * back. Only syncing, which waits for the medium, goes on side by side: so the medium can carry out several as one.
 */
export const blockingFileSystem: FileSystem = {
  async open(path, flags, mode) {
    const descriptor = fs.openSync(path, flags, mode)
    return {
      writeFile: async (text, encoding) => fs.writeFileSync(descriptor, text, encoding),
      sync: () => fsync(descriptor),
      close: async () => fs.closeSync(descriptor),
    }
  },
  readFile: async (path, encoding) => fs.readFileSync(path, encoding),
  readdir: async (path) => fs.readdirSync(path),
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  mkdir: async (path, options) => fs.mkdirSync(path, options),
}

/** Whether a file system's call failed because there is nothing at that path. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
