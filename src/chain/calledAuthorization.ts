// Authorizations read back from the calldata of mined transactions. Also runs in a browser.
import { Interface, Result } from 'ethers'
import { type SignedAuthorization, signedAuthorizationSchema } from '../protocol/authorization.js'
import { authorizationTargets, type PrimaryType } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import { confidentialLedgerAbi } from './generated/confidentialLedgerAbi.js'
import { orderEscrowAbi } from './generated/orderEscrowAbi.js'

/** The authorizations that can carry a portfolio. */
export type WriteType = Extract<PrimaryType, 'PortfolioUpdate' | 'OrderSettlement' | 'OrderRefund'>
/** The authorizations that end an order. */
export type EndingType = Exclude<WriteType, 'PortfolioUpdate'>
export type SignedWrite = Extract<SignedAuthorization, { primaryType: WriteType }>
export type SignedMove = Extract<SignedAuthorization, { primaryType: 'PortfolioMove' }>

const escrow = new Interface(orderEscrowAbi)
const interfaces: Record<WriteType, Interface> = {
  PortfolioUpdate: new Interface(confidentialLedgerAbi),
  OrderSettlement: escrow,
  OrderRefund: escrow,
}

/** A longer call has blobs that the schema refuses. */
const MAX_CALL_BYTES = 45_056
/** Calls of one order that are examined in one transaction. An honest transaction has one. */
const MAX_FORWARDED = 16
/** Calls of one account that are examined in one transaction: an account has at most 20 open orders. */
const MAX_OF_ACCOUNT = 64

const WORD_DIGITS = 64
/** Digits of selector and two offsets. Behind them, the struct begins with the order's id and its account. */
const STRUCT_AT = 8 + 2 * WORD_DIGITS

/**
 * The authorization of that type that a call brings; null for any other call. The reverse of `encodeAuthorizationCall`,
 * for calldata that is found on the chain: the padding at the call's end may be missing.
 */
export function calledAuthorization(primaryType: WriteType, data: Hex): SignedWrite | null {
  const signed = called(primaryType, data)
  return signed && isWrite(signed) ? signed : null
}

/** The move of a portfolio that a call brings; null for any other call. */
export function calledMove(data: Hex): SignedMove | null {
  const signed = called('PortfolioMove', data)
  return signed?.primaryType === 'PortfolioMove' ? signed : null
}

function called(primaryType: WriteType | 'PortfolioMove', data: Hex): SignedAuthorization | null {
  try {
    // Solidity reads no padding, ethers does.
    const padded = `${data}${'0'.repeat(WORD_DIGITS)}`
    const { method } = authorizationTargets[primaryType]
    const contract = primaryType === 'PortfolioMove' ? interfaces.PortfolioUpdate : interfaces[primaryType]
    const [struct, signature]: unknown[] = contract.decodeFunctionData(method, padded).toArray()
    if (!(struct instanceof Result)) return null
    const message = Object.entries(struct.toObject()).map(([name, value]) => [name, wireForm(value)])
    const body = { primaryType, message: Object.fromEntries(message), signature }
    return signedAuthorizationSchema.safeParse(body).data ?? null
  } catch {
    // Anyone may send calldata that no function of the contract takes.
    return null
  }
}

function isWrite(signed: SignedAuthorization): signed is SignedWrite {
  return Object.hasOwn(interfaces, signed.primaryType)
}

/**
 * The authorizations of that type for an order whose calls stand anywhere in calldata, as a multicall or a smart account forwards
 * them. Anyone may put some there: the chain alone knows which one took effect.
 */
export function forwardedAuthorizations(primaryType: EndingType, orderId: Hex, data: Hex): SignedWrite[] {
  return forwarded(primaryType, data, { word: orderId.slice(2), at: STRUCT_AT, most: MAX_FORWARDED })
}

/** The same for all orders of an account, portfolio updates included. */
export function forwardedWrites(primaryType: WriteType, account: Hex, data: Hex): SignedWrite[] {
  const word = account.slice(2).toLowerCase().padStart(WORD_DIGITS, '0')
  return forwarded(primaryType, data, { word, at: STRUCT_AT + WORD_DIGITS, most: MAX_OF_ACCOUNT })
}

/** The calls that have this word at this distance from their selector. */
function forwarded(
  primaryType: WriteType,
  data: Hex,
  { word, at, most }: { readonly word: string; readonly at: number; readonly most: number },
): SignedWrite[] {
  const calls: Hex[] = []
  for (const place of placesOf(selectorOf(primaryType, authorizationTargets[primaryType].method), data)) {
    if (calls.length === most) break
    if (data.startsWith(word, place + at)) calls.push(`0x${data.slice(place, place + 2 * MAX_CALL_BYTES)}`)
  }
  return calls.map((call) => calledAuthorization(primaryType, call)).filter((found) => found !== null)
}

/** Whether calldata is, or with `isForwarded` holds anywhere, a call that reclaims the order. */
export function isReclaim(orderId: Hex, data: Hex, isForwarded: boolean): boolean {
  const call = selectorOf('OrderRefund', 'reclaim') + orderId.slice(2)
  const [place] = placesOf(call, data)
  return isForwarded ? place !== undefined : data.startsWith(call, 2)
}

/** Without `0x`. */
function selectorOf(primaryType: WriteType, method: string): string {
  return interfaces[primaryType].getFunction(method)?.selector.slice(2) ?? ''
}

/** Where these digits stand in bytes as hex. */
function* placesOf(digits: string, data: Hex): Generator<number> {
  for (let at = data.indexOf(digits, 2); at !== -1; at = data.indexOf(digits, at + 1)) {
    if (at % 2 === 0) yield at
  }
}

/** The form that `POST /relay` takes: integers as decimal text. */
function wireForm(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
