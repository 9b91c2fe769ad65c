import type { StateDocument } from '../../store/documents.js'
import type { Engine } from '../../store/engine.js'
import { StorageError } from '../../store/storageError.js'
import type { Look } from '../check.js'
import type { CheckReason } from '../reasons.js'

/** Looks at the store, and remembers its standbys for the metrics. */
export interface StoreView {
  look: Look
  /** The synchronous standbys at the last look; undefined where it found no answer, or the engine has none. */
  standbys(): number | undefined
}

/** Whether the store takes a write, in the same way as every record. */
export function createStoreView(options: {
  readonly document: Pick<StateDocument<number>, 'save'>
  readonly engine: Pick<Engine, 'durability'>
}): StoreView {
  const { document, engine } = options
  let standbys: number | undefined

  async function lookAtStandbys(): Promise<CheckReason | null> {
    standbys = undefined
    const durability = await engine.durability?.()
    standbys = durability?.standbys
    return durability?.waitsForStandby === true && standbys === 0 ? 'standby-missing' : null
  }

  return {
    standbys: () => standbys,
    async look() {
      try {
        // First, because without a standby the write waits until the check is out of time.
        const reason = await lookAtStandbys()
        if (reason !== null) return reason
        await document.save(Date.now())
        return null
      } catch (error) {
        if (error instanceof StorageError) return 'store-not-writable'
        throw error
      }
    },
  }
}
