import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { uint256Schema } from '../../protocol/units.js'
import type { GasPurpose } from '../store/receipts.js'

/** Days since 1970, UTC. */
const daySchema = z.int().min(0)

/** Gas that an order still needs, booked by the write that began to hold it. */
const heldOrderSchema = z.strictObject({
  orderId: bytes32Schema,
  account: addressSchema,
  /** For its end. */
  gas: uint256Schema,
  /** For the write that marks it as never placed, until that is confirmed. */
  mark: uint256Schema,
  /** When it was booked, and by which digest. */
  day: daySchema,
  by: bytes32Schema,
})
export type HeldOrder = z.output<typeof heldOrderSchema>

/** The holder of a quota: an account's address, or an institution's id. */
const holderSchema = z.union([addressSchema, bytes32Schema])

/** The count that all servers share. */
const gasCountSchema = z.strictObject({
  day: daySchema,
  /** Used or set aside, without the bookings for held orders. */
  gas: uint256Schema,
  /** The same for each holder of a quota. */
  holders: z.array(z.strictObject({ holder: holderSchema, gas: uint256Schema })),
  held: z.array(heldOrderSchema),
})
export type GasCount = z.output<typeof gasCountSchema>

const differenceSchema = z
  .string()
  .regex(/^-?\d{1,78}$/)
  .transform(BigInt)

/** How one version of the count differs from the version before it, which is of the same day. */
const gasChangeSchema = z.strictObject({
  day: daySchema,
  gas: differenceSchema,
  holders: z.array(z.strictObject({ holder: holderSchema, gas: differenceSchema })),
  /** Bookings that were made, changed or, with null, ended. */
  held: z.array(z.strictObject({ orderId: bytes32Schema, order: heldOrderSchema.nullable() })),
})
export type GasChange = z.output<typeof gasChangeSchema>

/** A version of the shared count, in full or as a change. */
export const gasVersionSchema = z.union([
  z.strictObject({ count: gasCountSchema }),
  z.strictObject({ change: gasChangeSchema }),
])
export type GasVersion = z.output<typeof gasVersionSchema>

/** The holder of the quota that the gas counts on. */
export function holderOf(purpose: GasPurpose): Hex | undefined {
  if (purpose.kind === 'platform') return undefined
  return purpose.kind === 'institution' ? purpose.orgId : purpose.account
}

/**
 * Gas by holder, and the total, which includes the platform's.
 * @param onChange called with each holder whose gas has changed
 */
export function createSums(onChange: (holder: Hex) => void = () => undefined) {
  const by = new Map<Hex, bigint>()
  let all = 0n
  return {
    by,
    all: () => all,
    of: (holder: Hex) => by.get(holder) ?? 0n,
    add(holder: Hex | undefined, gas: bigint) {
      all += gas
      if (holder === undefined) return
      onChange(holder)
      const sum = (by.get(holder) ?? 0n) + gas
      if (sum === 0n) by.delete(holder)
      else by.set(holder, sum)
    },
    clear() {
      all = 0n
      by.clear()
    },
  }
}
