import type { MarketClock, MarketView } from '../../src/client/index.js'
import { timeOfDay } from './format.js'

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** Beside `Open` or `Closed`: `closes in 3 h 12 min`. */
export function clockWords({ isOpen, nextOpen, nextClose }: MarketClock, now: number): string {
  return isOpen ? `closes in ${until(nextClose, now)}` : `opens in ${until(nextOpen, now)}`
}

/** The remaining time in its two largest units: `2 d 4 h`, `3 h 12 min`, `12 min`, `less than a minute`. */
function until(iso: string, now: number): string {
  const minutes = Math.floor((Date.parse(iso) - now) / MINUTE_MS)
  if (minutes < 1) return 'less than a minute'
  const [days, hours] = [
    Math.floor(minutes / DAY_MINUTES),
    Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES),
  ]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % HOUR_MINUTES} min` : `${minutes} min`
}

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
