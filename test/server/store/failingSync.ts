import { type FileSystem, nodeFileSystem } from '../../../src/server/store/fileSystem.js'

/** The real file system, whose next sync fails with EIO whenever that is asked for. */
export function createFailingSync(): { readonly fs: FileSystem; failOnce(): void } {
  let fails = false
  return {
    failOnce() {
      fails = true
    },
    fs: {
      ...nodeFileSystem,
      async open(path, flags, mode) {
        const file = await nodeFileSystem.open(path, flags, mode)
        return {
          writeFile: (text, encoding) => file.writeFile(text, encoding),
          close: () => file.close(),
          async sync() {
            if (!fails) return file.sync()
            fails = false
            throw Object.assign(new Error('injected'), { code: 'EIO' })
          },
        }
      },
    },
  }
}
