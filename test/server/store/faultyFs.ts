import type { FileHandle } from 'node:fs/promises'
import * as fs from 'node:fs/promises'
import type { FileSystem } from '../../../src/server/store/atomicFiles.js'

export interface FaultyFs {
  readonly fs: FileSystem
  /** The operations so far, in order: `open tmp/…`, `sync`, `rename`, … */
  readonly operations: string[]
}

/**
 * The real file system, in which the operation of index `failAt` fails with EIO instead of happening. With `crash`,
 * so does every later one, as if the process had been killed there: its cleaning up does not happen either.
 */
export function createFaultyFs(failAt: number, crash = false): FaultyFs {
  const operations: string[] = []

  async function step<T>(name: string, action: () => Promise<T>): Promise<T> {
    const index = operations.push(name) - 1
    if (index === failAt || (crash && index > failAt)) {
      throw Object.assign(new Error('injected'), { code: 'EIO' })
    }
    return action()
  }

  function wrap(handle: FileHandle): FileHandle {
    return new Proxy(handle, {
      get(target, name) {
        if (name === 'sync') return () => step('sync', () => target.sync())
        if (name === 'writeFile') return (text: string) => step('write', () => target.writeFile(text))
        // A killed process's files are closed for it.
        if (name === 'close') return () => target.close()
        return Reflect.get(target, name)
      },
    })
  }

  return {
    operations,
    fs: {
      ...fs,
      open: (path, flags, mode) => step('open', async () => wrap(await fs.open(path, flags, mode))),
      rename: (from, to) => step('rename', () => fs.rename(from, to)),
      unlink: (path) => step('unlink', () => fs.unlink(path)),
    },
  }
}
