// What a decoded contract value is, before the project's own types take it.
import { z } from 'zod'
import { addressSchema } from '../protocol/address.js'
import { bytes32Schema, type Hex, hexBetween } from '../protocol/hex.js'

const MAX_BLOB_BYTES = 65_536

export const addressValue: z.ZodType<Hex> = addressSchema
export const bytes32Value: z.ZodType<Hex> = bytes32Schema
export const bytesValue: z.ZodType<Hex> = hexBetween(0, MAX_BLOB_BYTES)
export const uintValue = z.bigint().min(0n)
export const boolValue = z.boolean()
/** An unsigned integer that is small by nature: a count, a time. */
export const numberValue = uintValue.max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number)
