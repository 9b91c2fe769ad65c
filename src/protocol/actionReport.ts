// Corporate actions as the broker has them, reported by the enclave's part of `operate actions`: a file or a pipe between two programs.
import * as z from 'zod/mini'
import { addressSchema } from './address.js'
import { chainIdSchema } from './identifiers.js'

const nameSchema = z.string().check(z.maxLength(31))
const integer = (pattern: RegExp) =>
  z.codec(z.string().check(z.maxLength(80), z.regex(pattern)), z.bigint(), {
    decode: (text) => BigInt(text),
    encode: (value) => value.toString(),
  })
const amount = integer(/^-?\d+$/)
const positive = integer(/^[1-9]\d*$/)
const ratioSchema = z.strictObject({ numerator: positive, denominator: positive })
const common = {
  kind: z.enum([
    ...(['split', 'stock-dividend', 'cash-dividend', 'symbol-change', 'removal'] as const),
    ...(['merger', 'spin-off', 'other'] as const),
  ]),
  symbol: nameSchema,
  /** The name that the shares get, or of the shares that come beside them; empty where there is none. */
  successor: nameSchema,
  /** `YYYY-MM-DD`. */
  day: z.iso.date(),
}

/** What the broker says about a corporate action, before it has booked it or after. It has been wrong. */
const announcementSchema = z.strictObject({
  ...common,
  id: z.string().check(z.maxLength(128)),
  /** Every day on which the broker may book it; `day` is the ex-date, or the first day on which the action counts. */
  days: z.array(z.iso.date()),
  /** The day whose holders are entitled; null where none is stated. */
  recordedOn: z.nullable(z.iso.date()),
  /** Shares of `successor`, or else of `symbol`, for one share; null where there are none. Of a stock dividend the broker's own rate. */
  shares: z.nullable(ratioSchema),
  /** USD for one share; null where there is none. */
  cash: z.nullable(ratioSchema),
  /** Whether the issuer's country may have withheld a part. */
  foreign: z.boolean(),
})
export type Announcement = Readonly<z.output<typeof announcementSchema>>

/** A corporate action as the broker has carried it out in the account. */
const bookingSchema = z.strictObject({
  ...common,
  /** Share base units of `symbol` that the action was about; null where no entry says it. */
  before: z.nullable(amount),
  /** Share base units that there are now: of `successor`, or else of `symbol`. */
  made: amount,
  /** USD with 6 decimals that came, net of what was withheld. */
  cash: amount,
  /** The same before. */
  gross: amount,
  /** False where a part of the cash is a return of capital, or a capital gain of a fund. */
  isIncome: z.boolean(),
  recordedOn: z.nullable(z.iso.date()),
  /** Set where an entry cannot be read: its symbol and day are known, and its amounts are not. */
  isUnreadable: z.optional(z.literal(true)),
})
export type Booking = Readonly<z.output<typeof bookingSchema>>

/** A corporate action that the broker has announced, or booked, or both. From the beginning of its `day` on it counts. */
const eventSchema = z.strictObject({
  ...common,
  announced: z.nullable(announcementSchema),
  booked: z.nullable(bookingSchema),
})
export type CorporateEvent = Readonly<z.output<typeof eventSchema>>

export const actionReportSchema = z.strictObject({
  chainId: chainIdSchema,
  /** Address of `EquityToken`. */
  token: addressSchema,
  /** The exchange's day by the broker's clock. */
  today: z.iso.date(),
  events: z.array(eventSchema),
})
export type ActionReport = z.output<typeof actionReportSchema>
