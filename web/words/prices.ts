import type { MarketView } from '../../src/client/index.js'
import { timeOfDay } from './format.js'

/** Prices count as stale after two seconds, while the server fetches new ones, so a lone user often sees stale ones. */
const WORTH_A_WORD_MS = 15_000

/**
 * The age of old prices if it is notable; else null. `now` is Unix milliseconds. `isAway`: the server does not answer, so
 * that all prices grow old.
 */
export function ageWords(
  { stale, asOf }: Pick<MarketView, 'stale' | 'asOf'>,
  now: number,
  isAway: boolean,
): string | null {
  if (!isAway && (!stale || now - Date.parse(asOf) < WORTH_A_WORD_MS)) return null
  return `Old prices, from ${timeOfDay(asOf, new Date(now))}`
}
