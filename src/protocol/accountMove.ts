import * as z from 'zod'
import { addressSchema, ZERO_ADDRESS } from './address.js'
import { bytes32Schema, hexBetween } from './hex.js'

/** What `moveOf` of the registry answers; null where no move is proposed. */
export const accountMoveSchema = z
  .tuple([
    bytes32Schema,
    addressSchema,
    z.bigint().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
    z.boolean(),
    hexBetween(0, 33),
  ])
  .transform(([orgId, to, effectiveAt, hasBegun, userPubKey]) =>
    to === ZERO_ADDRESS ? null : { orgId, to, effectiveAt, hasBegun, userPubKey },
  )
/**
 * A move that was proposed and not ended. `effectiveAt`: Unix seconds from which it can be carried out, 0 until the owner approves it.
 * `userPubKey`: what the new wallet's portfolio is sealed to, `0x` until that wallet accepts.
 */
export type AccountMove = NonNullable<z.output<typeof accountMoveSchema>>
