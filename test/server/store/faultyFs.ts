import { type FileSystem, nodeFileSystem, type OpenFile } from '../../../src/server/store/fileSystem.js'

export interface FaultyFs {
  readonly fs: FileSystem
  /** The operations so far, in order: `open`, `sync`, `rename`, … */
  readonly operations: string[]
  /** The paths whose sync has succeeded, in order. */
  readonly synced: string[]
}

/**
 * The real file system, in which the operation of index `failAt` fails with EIO instead of happening. With `crash`,
 * so does every later one, as if the process had been killed there: its cleaning up does not happen either.
 */
export function createFaultyFs(failAt: number, crash = false): FaultyFs {
  const operations: string[] = []
  const synced: string[] = []

  async function step<T>(name: string, action: () => Promise<T>): Promise<T> {
    const index = operations.push(name) - 1
    if (index === failAt || (crash && index > failAt)) {
      throw Object.assign(new Error('injected'), { code: 'EIO' })
    }
    return action()
  }

  function wrap(path: string, file: OpenFile): OpenFile {
    return {
      writeFile: (text, encoding) => step('write', () => file.writeFile(text, encoding)),
      async sync() {
        await step('sync', () => file.sync())
        synced.push(path)
      },
      // A killed process's files are closed for it.
      close: () => file.close(),
    }
  }

  return {
    operations,
    synced,
    fs: {
      ...nodeFileSystem,
      open: (path, flags, mode) =>
        step('open', async () => wrap(path, await nodeFileSystem.open(path, flags, mode))),
      rename: (from, to) => step('rename', () => nodeFileSystem.rename(from, to)),
      mkdir: (path, options) => step('mkdir', () => nodeFileSystem.mkdir(path, options)),
      unlink: (path) => step('unlink', () => nodeFileSystem.unlink(path)),
    },
  }
}
