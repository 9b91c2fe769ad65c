// The entries of a fill that the books must hold.
import { DOCUMENTED_FEES, feeScheduleText, feesOfSale } from '../../src/protocol/fees.js'
import { divide, parseDecimal, SHARE_DECIMALS, toCents, USDC_DECIMALS } from '../../src/protocol/units.js'

/** The stand-in's fees. */
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
