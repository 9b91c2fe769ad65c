import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** What the stores use of a file system. `node:fs/promises` is one too. */
export interface FileSystem {
  open(path: string, flags: 'r' | 'wx', mode?: number): Promise<OpenFile>
  readFile(path: string, encoding: 'utf8'): Promise<string>
  readdir(path: string): Promise<string[]>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Resolves with the first directory that was made. */
  mkdir(path: string, options: { recursive: true; mode: number }): Promise<string | undefined>
}

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
const close = promisify(fs.close)
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
      close: () => close(descriptor),
    }
  },
  readFile: promisify(fs.readFile),
  readdir: (path) => readdir(path),
  rename: promisify(fs.rename),
  unlink: promisify(fs.unlink),
  mkdir: promisify(fs.mkdir),
}

/** Whether a file system's call failed because there is nothing at that path. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
