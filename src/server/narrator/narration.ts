import { z } from 'zod'

/** The thirteen events that our contracts declare themselves. */
export const EVENT_NAMES = [
  'InstitutionRegistered',
  'AdminTransferred',
  'MemberUpdated',
  'OrderOpened',
  'OrderSettled',
  'OrderRefunded',
  'PortfolioUpdated',
  'PolicyUpdated',
  'KycUpdated',
  'ListingUpdated',
  'FreezeUpdated',
  'BatchMinted',
  'BatchBurned',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

const uintText = z.codec(z.string().regex(/^\d{1,78}$/), z.bigint(), { decode: BigInt, encode: String })

/** Something that may be shown of an event: amounts (in base units), deadlines (Unix seconds) and version numbers. */
const shownSchema = z.strictObject({
  name: z.enum(['amount', 'payout', 'supply', 'deadline', 'version']),
  unit: z.enum(['USDC', 'shares', 'time', 'count']),
  value: uintText,
})
export type Shown = z.output<typeof shownSchema>

/** An event as it is told: nothing else of it is ever read, so nothing else can be printed or stored. */
export const narrationSchema = z.strictObject({ event: z.enum(EVENT_NAMES), values: z.array(shownSchema) })
export type Narration = z.output<typeof narrationSchema>

/** What is printed in one line. `time` in Unix seconds. */
export type Told =
  | { readonly kind: 'event' | 'retraction'; readonly time: bigint; readonly narration: Narration }
  | { readonly kind: 'reset'; readonly time: bigint }
