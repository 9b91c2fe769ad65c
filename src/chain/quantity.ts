import { z } from 'zod'

/** A number as a node answers it: hex of up to 256 bits. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt)
