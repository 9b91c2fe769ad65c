import { z } from 'zod'
import type { BrokerHttp } from './http.js'

export interface BrokerClock {
  /** The broker's own time. */
  readonly timestamp: Date
  readonly isOpen: boolean
  readonly nextOpen: Date
  readonly nextClose: Date
}

/** RFC 3339 with any offset and any number of fractional digits: Alpaca sends New York's offset and nanoseconds. */
export const timestampSchema = z.iso.datetime({ offset: true }).transform((text) => new Date(text))

const clockSchema = z
  .object({
    timestamp: timestampSchema,
    is_open: z.boolean(),
    next_open: timestampSchema,
    next_close: timestampSchema,
  })
  .transform(
    (clock): BrokerClock => ({
      timestamp: clock.timestamp,
      isOpen: clock.is_open,
      nextOpen: clock.next_open,
      nextClose: clock.next_close,
    }),
  )

/** `GET /v2/clock`. */
export function getClock(trading: BrokerHttp): Promise<BrokerClock> {
  return trading.request(
    { method: 'GET', route: '/v2/clock', path: '/v2/clock', purpose: 'awaited' },
    clockSchema,
  )
}
