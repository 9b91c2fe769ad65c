// Each run of the random tests draws a seed of its own. A failure names it, and `SEED=<n>` repeats it.
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import * as z from 'zod'

const MAX_SEED = 2 ** 31 - 1

export const SEED = z.coerce
  .number()
  .int()
  .min(0)
  .max(MAX_SEED)
  .parse(process.env.SEED ?? randomInt(MAX_SEED))

/** For assertions on a whole run; fast-check names the seed of a property itself. */
export const REPEAT = `repeat with SEED=${SEED}`

fc.configureGlobal({ seed: SEED })
