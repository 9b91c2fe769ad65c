// What the books must hold of a fill, and what of the broker's charges the platform bears.
import { ceilFee, DOCUMENTED_FEES, exactFee, feeScheduleText, feesOfSale } from '../../src/protocol/fees.js'
import {
  divide,
  ONE_CENT,
  parseDecimal,
  SHARE_DECIMALS,
  toCents,
  USDC_DECIMALS,
} from '../../src/protocol/units.js'
import type { ActivityView } from '../../src/sandbox/broker/index.js'

/** What the stand-in charges. */
export const FEES = feeScheduleText.parse(DOCUMENTED_FEES)

/** USDC base units that a buy takes from its payer: its value, rounded up to the cent. */
export function costOf(qty: bigint, avgPrice: string): bigint {
  return toCents(exactValue(qty, avgPrice, 'up'), 'up')
}

/** USDC base units that a sale brings: its value, rounded down to the cent, less fees. */
export function proceedsOf(qty: bigint, avgPrice: string): bigint {
  const fees = feesOfSale(FEES, qty, exactValue(qty, avgPrice, 'up'))
  const net = toCents(exactValue(qty, avgPrice, 'down'), 'down') - fees
  return net > 0n ? net : 0n
}

/** Decimals of the stand-in's average prices, at most. */
const AVERAGE_DECIMALS = 15

function exactValue(qty: bigint, avgPrice: string, rounding: 'up' | 'down'): bigint {
  const exact = qty * parseDecimal(avgPrice, AVERAGE_DECIMALS)
  return divide(exact, 10n ** BigInt(SHARE_DECIMALS + AVERAGE_DECIMALS - USDC_DECIMALS), rounding)
}

/**
 * USDC base units that the platform bears at most: the fees of purchases until the shares are sold, with the part of a
 * cent that each charge rounds up, and half a cent of each fill of an order beyond the first.
 */
export function borneByPlatform(activities: readonly ActivityView[]): bigint {
  const fills = activities.filter((activity) => activity.activity_type === 'FILL')
  const bought = fills
    .filter(({ side }) => side === 'buy')
    .map(({ qty }) => parseDecimal(qty ?? '0', SHARE_DECIMALS))
  const fees = FEES.filter(({ on }) => on === 'both').map((fee) =>
    ceilFee(bought.reduce((sum, qty) => sum + exactFee(fee, qty, 0n), 0n)),
  )
  const charges = activities.filter((activity) => activity.activity_type === 'FEE').length
  const further = fills.length - new Set(fills.map(({ order_id }) => order_id)).size
  const rounded = BigInt(charges) * ONE_CENT + (BigInt(further) * ONE_CENT) / 2n
  return fees.reduce((sum, fee) => sum + fee, rounded)
}
