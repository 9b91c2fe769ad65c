// The regulatory fees that the broker passes on: one public schedule for the whole platform.
import * as z from 'zod/mini'
import {
  divide,
  formatDecimal,
  ONE_CENT,
  parseDecimal,
  SHARE_DECIMALS,
  sharesFor,
  USDC_DECIMALS,
  uint256Schema,
} from './units.js'

/** Decimals of a rate, in USD per share or per USD. */
const RATE_DECIMALS = 12
/** Decimals of an unrounded fee: a quantity times a rate. */
const FEE_DECIMALS = SHARE_DECIMALS + RATE_DECIMALS

/** One fee, as `GET /market` returns it. */
export const feeSchema = /* @__PURE__ */ z.object({
  /** For example `TAF`. */
  name: z.string(),
  /** The unit that `rate` applies to: each share, or each USD of the trade. */
  per: z.enum(['share', 'usd']),
  /** USD with 12 decimals. */
  rate: uint256Schema,
  /** The most that one trade pays, in USDC base units; null without a cap. */
  max: z.nullable(uint256Schema),
  /** `both`: the broker charges purchases as well. The sale of the shares pays the fee of their purchase. */
  on: z.enum(['sale', 'both']),
})
export type Fee = Readonly<z.output<typeof feeSchema>>
export type FeeSchedule = readonly Fee[]

/** Alpaca's documented fees for live accounts: see docs/enclave.md, "What always holds". */
export const DOCUMENTED_FEES = 'SEC:0/usd,TAF:0.000166/share:max=8.30,CAT:0.0000265/share:both'

const NONE = 'none'
const MAX_FEES = 8
const FEE = /^([A-Z]{2,8}):(\d{1,3}(?:\.\d{1,12})?)\/(share|usd)(?::max=(\d{1,6}(?:\.\d{1,2})?))?(:both)?$/

/** A schedule in a setting's text form: `TAF:0.000166/share:max=8.30,CAT:0.0000265/share:both`, or `none`. */
export const feeScheduleText = /* @__PURE__ */ z.pipe(
  z.string(),
  z.transform((text, { issues }): FeeSchedule => {
    const fees = text === NONE ? [] : text.split(',').map((part) => feeOf(part.trim()))
    const known = fees.filter((fee) => fee !== null)
    const isClear = new Set(known.map(({ name }) => name)).size === fees.length && fees.length <= MAX_FEES
    if (isClear) return known
    const message = 'expected fees such as TAF:0.000166/share:max=8.30,CAT:0.0000265/share:both, or none'
    issues.push({ code: 'custom', input: text, message })
    return z.NEVER
  }),
)

function feeOf(text: string): Fee | null {
  const [, name, rate, per, max, both] = FEE.exec(text) ?? []
  if (name === undefined || rate === undefined) return null
  return {
    name,
    per: per === 'usd' ? 'usd' : 'share',
    rate: parseDecimal(rate, RATE_DECIMALS),
    max: max === undefined ? null : parseDecimal(max, USDC_DECIMALS),
    on: both === undefined ? 'sale' : 'both',
  }
}

/** A schedule in the text form that `feeScheduleText` parses. */
export function formatFees(schedule: FeeSchedule): string {
  return schedule.length === 0 ? NONE : schedule.map(formatFee).join(',')
}

function formatFee({ name, per, rate, max, on }: Fee): string {
  const cap = max === null ? '' : `:max=${formatDecimal(max, USDC_DECIMALS)}`
  return `${name}:${formatDecimal(rate, RATE_DECIMALS)}/${per}${cap}${on === 'both' ? ':both' : ''}`
}

/**
 * The fee of one trade before rounding: USD with 21 decimals.
 * @param qty share base units
 * @param value USDC base units
 */
export function exactFee({ per, rate, max }: Fee, qty: bigint, value: bigint): bigint {
  const owed = per === 'share' ? qty * rate : value * rate * 10n ** BigInt(SHARE_DECIMALS - USDC_DECIMALS)
  const cap = max === null ? owed : max * 10n ** BigInt(FEE_DECIMALS - USDC_DECIMALS)
  return owed < cap ? owed : cap
}

/** A fee in USDC base units, rounded up to the cent. */
export function ceilFee(exact: bigint): bigint {
  return divide(exact, 10n ** BigInt(FEE_DECIMALS - 2), 'up') * ONE_CENT
}

/**
 * The fees of a sale in USDC base units, each rounded up to the cent. A fee on both sides includes the purchase of
 * these shares.
 * @param qty share base units sold
 * @param value USDC base units received
 */
export function feesOfSale(schedule: FeeSchedule, qty: bigint, value: bigint): bigint {
  if (qty === 0n) return 0n
  return schedule
    .map((fee) => ceilFee(exactFee(fee, qty, value) * (fee.on === 'both' ? 2n : 1n)))
    .reduce((sum, fee) => sum + fee, 0n)
}

/** Estimates the fees of a sale for this amount at this price; null without a price. */
export function feesOfAmount(schedule: FeeSchedule, amount: bigint, price: bigint | null): bigint | null {
  return price === null || price === 0n ? null : feesOfSale(schedule, sharesFor(amount, price), amount)
}

/** The names of the non-zero fees, on sales or on purchases. */
export function feeNames(schedule: FeeSchedule, on?: Fee['on']): string {
  return schedule
    .filter((fee) => fee.rate > 0n && (on === undefined || fee.on === on))
    .map(({ name }) => name)
    .join(', ')
}
