import { Interface, Result } from 'ethers'
import { type SignedAuthorization, signedAuthorizationSchema } from '../protocol/authorization.js'
import { authorizationTargets, PRIMARY_TYPES } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'

const escrow = new Interface(orderEscrowAbi)

/**
 * The authorization that a call of `OrderEscrow` brings; null for any other call. The reverse of
 * `encodeAuthorizationCall`, for what is found on the chain.
 */
export function calledAuthorization(data: Hex): SignedAuthorization | null {
  const call = parseCall(data)
  const primaryType = PRIMARY_TYPES.find((type) => authorizationTargets[type].method === call?.name)
  const struct: unknown = call?.args[0]
  if (primaryType === undefined || !(struct instanceof Result)) return null
  const message = Object.entries(struct.toObject()).map(([name, value]) => [name, wireForm(value)])
  const signature: unknown = call?.args[1]
  const body = { primaryType, message: Object.fromEntries(message), signature }
  return signedAuthorizationSchema.safeParse(body).data ?? null
}

/** Null for what no function of the contract takes: whoever likes may send it. */
function parseCall(data: Hex) {
  try {
    return escrow.parseTransaction({ data })
  } catch {
    return null
  }
}

/** As `POST /relay` takes it: integers as decimal text. */
function wireForm(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
