import { randomUUID } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { createDirectorySync, type SyncDirectory } from './directorySync.js'
import { APPEND, type FileSystem, isAbsent, nodeFileSystem, type OpenFile } from './fileSystem.js'
import { createMadeDirectories, type MadeDirectories } from './madeDirectories.js'
import { StorageError } from './storageError.js'

/** Files under one directory, by their path relative to it. What is written whole is read whole: the old text or the new. */
export interface AtomicFiles {
  /** Undefined when there is no such file. @throws StorageError */
  read(path: string): Promise<string | undefined>
  /**
   * Replaces or creates a file, and its directories. When it resolves, the file survives a power cut.
   * @throws StorageError; what a reader then sees is the old file or the new one, whole
   */
  write(path: string, text: string): Promise<void>
  /**
   * Adds to the end of a file that exists. When it resolves, what was added survives a power cut.
   * @throws StorageError; a part of it may have been added then, and what a sync failed to write may be gone later
   */
  append(path: string, text: string): Promise<void>
  /** Moves a file over whatever is at `to`; false when there is no such file. @throws StorageError */
  move(from: string, to: string): Promise<boolean>
  /** False when there is no such file. @throws StorageError */
  remove(path: string): Promise<boolean>
  /** Names in a directory, unsorted; none when it does not exist. @throws StorageError */
  list(path: string): Promise<string[]>
  /** Removes what a killed process left half-written. For the start, while nothing is written. */
  clean(): Promise<void>
}

/** Apart from the records, so that a start finds leftovers without reading every directory. */
const TEMPORARY = 'tmp'
const PRIVATE_FILE = 0o600

/** What the steps below work with. */
interface Medium {
  readonly fs: FileSystem
  readonly syncDirectory: SyncDirectory
  readonly directories: MadeDirectories
}

/** @param options.fs handed in by tests, to let any step fail */
export function createAtomicFiles(options: { root: string; fs?: FileSystem }): AtomicFiles {
  const { fs = nodeFileSystem } = options
  const root = resolve(options.root)
  const sync = createDirectorySync((path) => syncDirectory(fs, path))
  const directories = createMadeDirectories({ root, fs, syncDirectory: sync })
  const medium = { fs, syncDirectory: sync, directories }
  const full = (path: string) => join(root, path)
  return {
    read: (path) => storage(() => absentAsUndefined(() => fs.readFile(full(path), 'utf8'))),
    write: (path, text) =>
      storage(() => replace(medium, full(path), join(root, TEMPORARY, randomUUID()), text)),
    append: (path, text) => storage(() => appendTo(medium, full(path), text)),
    move: (from, to) => storage(() => moveFile(medium, full(from), full(to))),
    remove: (path) => storage(() => removeFile(medium, full(path))),
    list: (path) => storage(async () => (await absentAsUndefined(() => fs.readdir(full(path)))) ?? []),
    clean: () =>
      storage(async () => {
        const left = (await absentAsUndefined(() => fs.readdir(full(TEMPORARY)))) ?? []
        for (const name of left) await removeFile(medium, join(root, TEMPORARY, name))
      }),
  }
}

/** Temporary file, fsync, rename, fsync of the directory: each step is what makes the one before it last. */
async function replace(medium: Medium, path: string, temporary: string, text: string): Promise<void> {
  const { fs } = medium
  try {
    await writeNew(medium, temporary, text)
    await inDirectory(medium, path, () => fs.rename(temporary, path))
  } catch (error) {
    await fs.unlink(temporary).catch(() => undefined)
    throw error
  }
  await medium.syncDirectory(dirname(path))
}

async function writeNew(medium: Medium, path: string, text: string): Promise<void> {
  await writeSynced(await inDirectory(medium, path, () => medium.fs.open(path, 'wx', PRIVATE_FILE)), text)
}

async function appendTo({ fs, directories }: Medium, path: string, text: string): Promise<void> {
  await writeSynced(await fs.open(path, APPEND), text)
  await directories.make(dirname(path))
}

async function writeSynced(file: OpenFile, text: string): Promise<void> {
  try {
    await file.writeFile(text, 'utf8')
    await file.sync()
  } finally {
    await file.close()
  }
}

async function moveFile(medium: Medium, from: string, to: string): Promise<boolean> {
  const { fs } = medium
  // Opened first: a rename's ENOENT does not say which side is missing.
  const source = await absentAsUndefined(() => fs.open(from, 'r'))
  if (source === undefined) return false
  await source.close()
  await inDirectory(medium, to, () => fs.rename(from, to))
  await medium.syncDirectory(dirname(to))
  if (dirname(from) !== dirname(to)) await medium.syncDirectory(dirname(from))
  return true
}

async function removeFile({ fs, syncDirectory }: Medium, path: string): Promise<boolean> {
  const removed = await absentAsUndefined(async () => {
    await fs.unlink(path)
    return true
  })
  if (removed === undefined) return false
  await syncDirectory(dirname(path))
  return true
}

/** The directory is there, unless somebody has removed it since this process made it. */
async function inDirectory<T>({ directories }: Medium, path: string, action: () => Promise<T>): Promise<T> {
  await directories.make(dirname(path))
  try {
    return await action()
  } catch (error) {
    if (!isAbsent(error)) throw error
    directories.forget()
    await directories.make(dirname(path))
    return action()
  }
}

async function syncDirectory(fs: FileSystem, path: string): Promise<void> {
  const directory = await fs.open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function absentAsUndefined<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

async function storage<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw new StorageError(error)
  }
}
