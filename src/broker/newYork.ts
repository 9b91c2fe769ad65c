// Days of the exchange, as `YYYY-MM-DD`: an action counts from the midnight with which its day begins in New York.

const FORMAT = new Intl.DateTimeFormat('en-CA', {
  ...{ timeZone: 'America/New_York', hourCycle: 'h23' },
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit' },
})
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** The exchange's day at a time. */
export function dayAt(time: Date): string {
  const { year, month, day } = partsAt(time)
  return `${year}-${month}-${day}`
}

/** Unix seconds of a day's first moment. */
export function startOf(day: string): number {
  // The zone changes its offset in the night from Saturday to Sunday, at two.
  const utc = Date.parse(`${day}T00:00:00Z`)
  const hour = Number(partsAt(new Date(utc)).hour)
  return (utc + (24 - hour) * HOUR_MS) / 1_000
}

/** A day so many days later, or earlier where it is negative. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** How many days lie between two. */
export function daysBetween(a: string, b: string): number {
  return Math.abs(dayNumber(a) - dayNumber(b))
}

/** Days since 1970. */
export function dayNumber(day: string): number {
  return Date.parse(day) / DAY_MS
}

function partsAt(time: Date) {
  const parts = FORMAT.formatToParts(time).map(({ type, value }) => [type, value])
  const { year = '', month = '', day = '', hour = '' } = Object.fromEntries(parts)
  return { year, month, day, hour }
}
