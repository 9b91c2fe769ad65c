import { Interface, Result } from 'ethers'
import { type SignedAuthorization, signedAuthorizationSchema } from '../protocol/authorization.js'
import { authorizationTargets, type PrimaryType } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import { orderStart } from './authorizationCall.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'

const escrow = new Interface(orderEscrowAbi)

/** The authorizations that end an order. */
export type EndingType = Extract<PrimaryType, 'OrderSettlement' | 'OrderRefund'>

/** A longer call has blobs that the schema refuses. */
const MAX_CALL_BYTES = 45_056
/** Calls of one order that are looked at in one transaction: more than one is somebody's joke. */
const MAX_FORWARDED = 16
const WORD_BYTES = 32

/**
 * The authorization of that type that a call of `OrderEscrow` brings; null for any other call. The reverse of
 * `encodeAuthorizationCall`, for what is found on the chain: the padding at the call's end may be missing.
 */
export function calledAuthorization(primaryType: EndingType, data: Hex): SignedAuthorization | null {
  try {
    // Solidity reads no padding, ethers does.
    const padded = Buffer.concat([Buffer.from(data.slice(2), 'hex'), Buffer.alloc(WORD_BYTES)])
    const [struct, signature]: unknown[] = escrow.decodeFunctionData(methodOf(primaryType), padded).toArray()
    if (!(struct instanceof Result)) return null
    const message = Object.entries(struct.toObject()).map(([name, value]) => [name, wireForm(value)])
    const body = { primaryType, message: Object.fromEntries(message), signature }
    return signedAuthorizationSchema.safeParse(body).data ?? null
  } catch {
    // Anyone may send what no function of the contract takes.
    return null
  }
}

/**
 * The authorizations of that type for an order whose calls stand anywhere in calldata, as a multicall or a smart account forwards
 * them. Anyone may put some there: the chain alone knows which one took effect.
 */
export function forwardedAuthorizations(
  primaryType: EndingType,
  orderId: Hex,
  data: Hex,
): SignedAuthorization[] {
  const calls: Hex[] = []
  for (const at of placesOf(selectorOf(methodOf(primaryType)), data)) {
    if (calls.length === MAX_FORWARDED) break
    if (data.startsWith(orderId.slice(2), at + orderStart))
      calls.push(`0x${data.slice(at, at + 2 * MAX_CALL_BYTES)}`)
  }
  return calls.map((call) => calledAuthorization(primaryType, call)).filter((found) => found !== null)
}

/** Whether calldata is, or with `isForwarded` holds anywhere, a call that reclaims the order. */
export function isReclaim(orderId: Hex, data: Hex, isForwarded: boolean): boolean {
  const call = selectorOf('reclaim') + orderId.slice(2)
  const [place] = placesOf(call, data)
  return isForwarded ? place !== undefined : data.startsWith(call, 2)
}

function methodOf(primaryType: EndingType): string {
  return authorizationTargets[primaryType].method
}

/** Without `0x`. */
function selectorOf(method: string): string {
  return escrow.getFunction(method)?.selector.slice(2) ?? ''
}

/** Where these digits stand in bytes as hex. */
function* placesOf(digits: string, data: Hex): Generator<number> {
  for (let at = data.indexOf(digits, 2); at !== -1; at = data.indexOf(digits, at + 1)) {
    if (at % 2 === 0) yield at
  }
}

/** As `POST /relay` takes it: integers as decimal text. */
function wireForm(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
