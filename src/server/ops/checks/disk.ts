import type { StateDocument } from '../../store/documents.js'
import { StorageError } from '../../store/storageError.js'
import type { Look } from '../check.js'

/** Whether the store takes a write, in the same way as every record. */
export function diskLook(document: Pick<StateDocument<number>, 'save'>): Look {
  return async () => {
    try {
      await document.save(Date.now())
      return null
    } catch (error) {
      if (error instanceof StorageError) return 'disk-not-writable'
      throw error
    }
  }
}
