import { dirname } from 'node:path'
import type { SyncDirectory } from './directorySync.js'
import type { FileSystem } from './fileSystem.js'

/** Directories at and below a root, made when they are first used. */
export interface MadeDirectories {
  /**
   * Makes a directory and those above it, down from the root, where they are missing. When it resolves, the entries that
   * lead to it, from the file system's root down, survive a power cut. Free but for the first time.
   * @throws the system's error; the next call begins anew then
   */
  make(path: string): Promise<void>
  /** One of them turned out to be missing: each is looked after again when it is next used. */
  forget(): void
}

const PRIVATE_DIRECTORY = 0o700

/**
 * Of a directory above the root: this process may not read it, or its file system is read-only or syncs no directories. In
 * none of these has anything been made lately.
 */
const NEVER_SYNCED = new Set<unknown>(['EACCES', 'EPERM', 'EROFS', 'EINVAL'])

/**
 * That a directory is there does not say that its entry is on the medium: whoever made it may have been killed, or failed,
 * before the sync, or is still at it. So a process syncs each entry once itself, and all who need it wait for that.
 *
 * @param options.root absolute
 */
export function createMadeDirectories(options: {
  root: string
  fs: Pick<FileSystem, 'mkdir'>
  syncDirectory: SyncDirectory
}): MadeDirectories {
  const { root, fs, syncDirectory } = options
  const made = new Map<string, Promise<void>>()

  async function makeOne(path: string): Promise<void> {
    if (path !== root) await make(dirname(path))
    await fs.mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY })
    await (path === root ? syncAbove() : syncDirectory(dirname(path)))
  }

  /** Any of those above may have been made with the root. */
  async function syncAbove(): Promise<void> {
    for (const path of above(root)) {
      try {
        await syncDirectory(path)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && NEVER_SYNCED.has(error.code))) throw error
      }
    }
  }

  async function make(path: string): Promise<void> {
    const known = made.get(path)
    if (known !== undefined) return known
    const mine = makeOne(path)
    made.set(path, mine)
    try {
      await mine
    } catch (error) {
      if (made.get(path) === mine) made.delete(path)
      throw error
    }
  }

  return { make, forget: () => made.clear() }
}

/** The directories that hold a path, from the file system's root down. */
function above(path: string): string[] {
  const holding = dirname(path)
  return holding === path ? [] : [...above(holding), holding]
}
