import type { MarketView } from '../../src/client/index.js'
import { timeOfDay } from './format.js'

/** The server calls a price stale after two seconds, while it asks for the next: whoever is alone gets such a one each time. */
const WORTH_A_WORD_MS = 15_000

/** How old the prices are, where that is worth a word; else null. `now` is Unix milliseconds. */
export function ageWords({ stale, asOf }: Pick<MarketView, 'stale' | 'asOf'>, now: number): string | null {
  if (!stale || now - Date.parse(asOf) < WORTH_A_WORD_MS) return null
  return `prices of ${timeOfDay(asOf, new Date(now))}`
}
