// Node alone has files: a bundle for browsers gets the subpath without them.
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from '../../protocol/hex.js'
import type { OrderStore } from '../orderStore.js'
import { orderStoreOver } from './texts.js'

const ENDING = '.json'
const PART = '.part'
/** A part that is older was left by a process that died: a write takes milliseconds. */
const LEFT_MS = 3_600_000

/**
 * Keeps orders as files of one directory, `<orderId>.json`, which only its owner can read. Several processes may use it at once.
 * Methods reject with the system's error.
 */
export function createFileOrderStore(directory: string): OrderStore {
  const pathOf = (orderId: Hex) => join(directory, `${orderId}${ENDING}`)

  async function write(orderId: Hex, text: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const part = join(directory, `${crypto.randomUUID()}${PART}`)
    const file = await open(part, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, pathOf(orderId))
    await syncDirectory(directory)
  }
  async function names(): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true }).catch(unlessMissing([]))
    const found = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
    for (const name of found.filter((each) => each.endsWith(PART))) {
      const { mtimeMs } = await stat(join(directory, name)).catch(unlessMissing({ mtimeMs: Date.now() }))
      if (Date.now() - mtimeMs > LEFT_MS) await rm(join(directory, name), { force: true })
    }
    return found.filter((each) => each.endsWith(ENDING))
  }
  const read = (path: string) => readFile(path, 'utf8').catch(unlessMissing(undefined))

  return orderStoreOver({
    get: (orderId) => read(pathOf(orderId)),
    set: write,
    delete: (orderId) => rm(pathOf(orderId), { force: true }),
    async all() {
      const texts = await Promise.all((await names()).map((name) => read(join(directory, name))))
      return texts.filter((text) => text !== undefined)
    },
  })
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
