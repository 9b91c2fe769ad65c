// Which of a sweep's points are played: a few, chosen by a seed, or all of them (`npm run test:soak -- sweeps`).
import { createHash } from 'node:crypto'
import { LENGTH } from '../../support/length.js'
import { REPEAT, SEED } from '../../support/seed.js'

/** The `LENGTH` that plays them all. */
export const WHOLE = 24

/** @param sweep its name, so that each has points of its own */
export function createSample(sweep: string) {
  return {
    isPlayed(point: string): boolean {
      const hash = createHash('sha256').update(`${SEED} ${sweep} ${point}`).digest()
      return hash.readUInt32BE() % WHOLE < LENGTH
    },
    /** Has a failure name the seed and the point, with which it comes again. */
    async naming<T>(point: string, play: () => Promise<T>): Promise<T> {
      try {
        return await play()
      } catch (error) {
        if (error instanceof Error) error.message += ` (${REPEAT}, ${sweep}: ${point})`
        throw error
      }
    },
  }
}
