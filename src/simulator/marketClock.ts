import { MAX_TIMER_MS } from '../protocol/timeLimit.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A trading day's length, 9:30 to 16:00. */
const SESSION_MS = 6.5 * HOUR_MS

/** A trading clock that commands open and close; it also opens automatically at its `nextOpen`. */
export function createMarketClock(options: { readonly now: () => Date; readonly onOpen: () => void }) {
  const { now, onOpen } = options
  let open = true
  let nextOpen = after(now(), DAY_MS)
  let nextClose = after(now(), SESSION_MS)
  let opening: NodeJS.Timeout | undefined

  function awaitOpening(): void {
    const left = nextOpen.getTime() - now().getTime()
    opening = setTimeout(() => (left > 0 ? awaitOpening() : clock.set({ open: true })), clamp(left))
  }

  const clock = {
    isOpen: (): boolean => open,
    /** The end of the current session, or of the next one. */
    nextClose: (): Date => nextClose,
    /** The time at which a closed market opens automatically; by default in an hour. */
    set(change: {
      readonly open: boolean
      readonly nextOpen?: Date | undefined
      readonly nextClose?: Date | undefined
    }): void {
      clearTimeout(opening)
      open = change.open
      const opens = change.nextOpen ?? after(now(), HOUR_MS)
      nextClose = change.nextClose ?? after(open ? now() : opens, SESSION_MS)
      nextOpen = change.nextOpen ?? (open ? after(nextClose, DAY_MS - SESSION_MS) : opens)
      if (open) onOpen()
      else awaitOpening()
    },
    /** As `GET /v2/clock` answers. */
    toJson(): { timestamp: string; is_open: boolean; next_open: string; next_close: string } {
      // Keeps `nextClose` in the future, even if the sandbox runs for days.
      while (nextClose <= now()) nextClose = after(nextClose, DAY_MS)
      while (open && nextOpen <= now()) nextOpen = after(nextOpen, DAY_MS)
      return {
        timestamp: newYorkTime(now(), 9),
        is_open: open,
        next_open: newYorkTime(nextOpen, 0),
        next_close: newYorkTime(nextClose, 0),
      }
    },
    stop: (): void => clearTimeout(opening),
  }
  return clock
}

export type StandInClock = ReturnType<typeof createMarketClock>

function clamp(ms: number): number {
  return Math.min(Math.max(0, ms), MAX_TIMER_MS)
}

function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms)
}

/** RFC 3339 in New York's offset of that day, as Alpaca writes the clock; `digits` of a second's fraction. */
function newYorkTime(date: Date, digits: 0 | 9): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'longOffset' })
    .formatToParts(date)
    .find((part) => part.type === 'timeZoneName')
  const offset = parts?.value.replace('GMT', '') ?? '-05:00'
  const [hours = '0', minutes = '0'] = offset.slice(1).split(':')
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (offset.startsWith('-') ? -1 : 1)
  const local = after(date, offsetMs).toISOString()
  return digits === 0 ? `${local.slice(0, 19)}${offset}` : `${local.slice(0, 23)}000000${offset}`
}
