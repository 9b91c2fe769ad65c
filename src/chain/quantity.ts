import { z } from 'zod'

/** A number as nodes take it: hex without leading zeros. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** A number as a node answers it: hex of up to 256 bits. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt)

/** The same for what a JavaScript number holds exactly: a block, a log's index, a time. */
export const smallQuantitySchema = quantitySchema
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER), 'too large a number')
  .transform(Number)
