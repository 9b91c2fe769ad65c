import { SHARE_DECIMALS, USDC_DECIMALS } from '../../protocol/units.js'
import { createRecentMap } from '../../service/recentMap.js'

/** Of an amount of USDC, the first two decimals are always shown. */
const CENT_DECIMALS = 2
/** The last second that a `Date` can hold (ECMA-262, 21.4.1.1). */
const MAX_DATE_SECONDS = 8_640_000_000_000n

const SPANS = [
  { name: 'd', seconds: 86_400n },
  { name: 'h', seconds: 3_600n },
  { name: 'min', seconds: 60n },
  { name: 's', seconds: 1n },
]
/** As a person says it: an hour and some minutes, and no seconds. */
const SPANS_SHOWN = 2

/** `1000000000n` is `1,000.00 USDC`; decimals below a cent are shown when there are any. */
export function formatUsdc(units: bigint): string {
  const [whole, fraction] = split(units, USDC_DECIMALS)
  const shown = fraction.replace(/0+$/, '').padEnd(CENT_DECIMALS, '0')
  return `${whole}.${shown} USDC`
}

/** `1500000000n` is `1.500000000 shares`. */
export function formatShares(units: bigint): string {
  return `${split(units, SHARE_DECIMALS).join('.')} shares`
}

/** Events have many times in common: their block's, and deadlines to the minute. */
const knownTimes = createRecentMap<bigint, string>(64)

/** ISO 8601 in UTC, to the second. */
export function formatTime(seconds: bigint): string {
  const known = knownTimes.get(seconds)
  if (known !== undefined) return known
  const text = isoTime(seconds)
  knownTimes.set(seconds, text)
  return text
}

function isoTime(seconds: bigint): string {
  if (seconds > MAX_DATE_SECONDS) return `${seconds} s`
  return new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', 'Z')
}

/** How far a time is from another, both in Unix seconds: `in 29 d 23 h`, `5 min ago`, `now`. */
export function formatDistance(time: bigint, from: bigint): string {
  if (time === from) return 'now'
  let rest = time > from ? time - from : from - time
  const parts = SPANS.map(({ name, seconds }) => {
    const count = rest / seconds
    rest %= seconds
    return { name, count }
  })
  const first = parts.findIndex(({ count }) => count > 0n)
  const shown = parts.slice(first, first + SPANS_SHOWN).filter(({ count }) => count > 0n)
  const text = shown.map(({ name, count }) => `${count} ${name}`).join(' ')
  return time > from ? `in ${text}` : `${text} ago`
}

/** The digits before the point, in groups of three, and those after it. */
function split(units: bigint, decimals: number): [whole: string, fraction: string] {
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  return [whole, digits.slice(-decimals)]
}
