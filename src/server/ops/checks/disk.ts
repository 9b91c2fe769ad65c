import type { AtomicFiles } from '../../store/atomicFiles.js'
import { StorageError } from '../../store/storageError.js'
import type { Look } from '../check.js'

const FILE = 'readiness'

/** Whether a file can be written so that it lasts, by the same way as every record. */
export function diskLook(files: Pick<AtomicFiles, 'write' | 'remove'>): Look {
  return async () => {
    try {
      await files.write(FILE, '')
      await files.remove(FILE)
      return null
    } catch (error) {
      if (error instanceof StorageError) return 'disk-not-writable'
      throw error
    }
  }
}
