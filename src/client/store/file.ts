// Node alone has files: a bundle for browsers gets the subpath without them.
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { HistoryStore } from '../keptLists.js'
import type { OrderStore } from '../orderStore.js'
import { orderStoreOver } from './texts.js'

const PART = '.part'
/** A part that is older was left by a process that died: a write takes milliseconds. */
const LEFT_MS = 3_600_000

/**
 * Keeps orders as files of one directory, `<orderId>.json`, which only its owner can read. Several processes may use it at once.
 * Methods reject with the system's error.
 */
export function createFileOrderStore(directory: string): OrderStore {
  const files = filesIn(directory, '.json')
  return orderStoreOver({
    get: async (orderId) => (await files.read(orderId))?.toString(),
    set: files.write,
    delete: files.remove,
    async all() {
      const found = await Promise.all((await files.names()).map(files.read))
      return found.flatMap((bytes) => bytes?.toString() ?? [])
    },
  })
}

/**
 * Keeps bytes as files of one directory, which only its owner can read: the `store` of lists, of the history and of rulebooks. Several
 * processes may use it at once. Methods reject with the system's error.
 */
export function createFileStore(directory: string): HistoryStore {
  const files = filesIn(directory, '.bin')
  return {
    get: (name) => files.read(encodeURIComponent(name)),
    set: (name, bytes) => files.write(encodeURIComponent(name), bytes),
  }
}

function filesIn(directory: string, ending: string) {
  const pathOf = (name: string) => join(directory, `${name}${ending}`)

  async function write(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const part = join(directory, `${crypto.randomUUID()}${PART}`)
    const file = await open(part, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, pathOf(name))
    await syncDirectory(directory)
    await removeLeft()
  }
  /** Those that end so. A directory is none of ours. */
  async function filesThatEnd(end: string): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true }).catch(unlessMissing([]))
    return entries.flatMap((entry) => (entry.isDirectory() || !entry.name.endsWith(end) ? [] : entry.name))
  }
  async function removeLeft(): Promise<void> {
    for (const name of await filesThatEnd(PART)) {
      const { mtimeMs } = await stat(join(directory, name)).catch(unlessMissing({ mtimeMs: Date.now() }))
      if (Date.now() - mtimeMs > LEFT_MS) await rm(join(directory, name), { force: true })
    }
  }
  return {
    write,
    read: (name: string) => readFile(pathOf(name)).catch(unlessMissing(undefined)),
    remove: (name: string) => rm(pathOf(name), { force: true }),
    names: async () => (await filesThatEnd(ending)).map((name) => name.slice(0, -ending.length)),
  }
}

/** The name of a file is durable with its directory. Windows opens no directory. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const opened = await open(directory, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

function unlessMissing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise
    throw error
  }
}
