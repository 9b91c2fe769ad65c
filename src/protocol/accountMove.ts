import * as z from 'zod/mini'
import { addressSchema, ZERO_ADDRESS } from './address.js'
import { bytes32Schema, hexBetween } from './hex.js'

/** What `moveOf` of the registry answers; null where no move is proposed. */
export const accountMoveSchema = z.pipe(
  z.tuple([
    bytes32Schema,
    addressSchema,
    z.pipe(z.bigint().check(z.maximum(BigInt(Number.MAX_SAFE_INTEGER))), z.transform(Number)),
    z.boolean(),
    hexBetween(0, 33),
  ]),
  z.transform(([orgId, to, effectiveAt, hasBegun, userPubKey]) =>
    to === ZERO_ADDRESS ? null : { orgId, to, effectiveAt, hasBegun, userPubKey },
  ),
)
/**
 * A move that was proposed and not ended. `effectiveAt`: Unix seconds from which it can be carried out, 0 until the owner approves it.
 * `userPubKey`: what the new wallet's portfolio is sealed to, `0x` until that wallet accepts.
 */
export type AccountMove = NonNullable<z.output<typeof accountMoveSchema>>
