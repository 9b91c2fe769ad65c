import type { MarketView } from '../../src/client/index.js'
import { timeOfDay } from './format.js'

/** Prices count as stale after two seconds, while the server fetches new ones, so a lone user often sees stale ones. */
const WORTH_A_WORD_MS = 15_000

/** The age of stale prices if it is notable; else null. `now` is Unix milliseconds. */
export function ageWords({ stale, asOf }: Pick<MarketView, 'stale' | 'asOf'>, now: number): string | null {
  if (!stale || now - Date.parse(asOf) < WORTH_A_WORD_MS) return null
  return `prices of ${timeOfDay(asOf, new Date(now))}`
}
