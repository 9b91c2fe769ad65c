// Authorizations read back from the calldata of mined transactions. Also runs in a browser.
import { id, Result } from 'ethers'
import { type SignedAuthorization, signedAuthorizationSchema } from '../protocol/authorization.js'
import { authorizationTargets, authorizationTypes } from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import type { PrimaryType } from '../protocol/primaryTypes.js'
import { createAbi } from './abi.js'

/** The authorizations that can write a portfolio. */
export type WriteType = Extract<PrimaryType, 'PortfolioUpdate' | 'OrderSettlement' | 'OrderRefund'>
/** The authorizations that end an order. */
export type EndingType = Exclude<WriteType, 'PortfolioUpdate'>
export type SignedWrite = Extract<SignedAuthorization, { primaryType: WriteType }>
export type SignedMove = Extract<SignedAuthorization, { primaryType: 'PortfolioMove' }>

/** One version of an account's portfolio, as an authorization writes it. */
export interface PortfolioWrite {
  readonly signed: SignedWrite | SignedMove
  readonly version: bigint
  readonly previous: Hex
  readonly enclaveBlob: Hex
  readonly userBlob: Hex
  /** Whether the calldata is this call itself, and not another contract's that forwards it. */
  readonly isDirect: boolean
}

const TYPES = ['PortfolioUpdate', 'PortfolioMove', 'OrderSettlement', 'OrderRefund'] as const
/** The functions that take a portfolio. Each takes the struct that is signed. */
const abi = createAbi([
  ...TYPES.map((type) => {
    const fields = authorizationTypes[type].map((field) => `${field.type} ${field.name}`)
    return `function ${authorizationTargets[type].method}((${fields.join(', ')}) a, bytes signature)`
  }),
  'function reclaim(bytes32 orderId)',
])

/** The topic of each version's event. */
export const PORTFOLIO_UPDATED = id('PortfolioUpdated(bytes32,uint64)')

/** A longer call has blobs that the schema refuses. A move brings those of two accounts. */
const MAX_CALL_BYTES = 90_112
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
  return signed === null || signed.primaryType === 'PortfolioMove' ? null : signed
}

function called(primaryType: WriteType | 'PortfolioMove', data: Hex): SignedWrite | SignedMove | null {
  try {
    // Solidity reads no padding, ethers does.
    const padded = `${data}${'0'.repeat(WORD_DIGITS)}`
    const { method } = authorizationTargets[primaryType]
    const [struct, signature]: unknown[] = abi.decodeCall(method, padded).toArray()
    if (!(struct instanceof Result)) return null
    const message = Object.entries(struct.toObject()).map(([name, value]) => [name, wireForm(value)])
    const body = { primaryType, message: Object.fromEntries(message), signature }
    const signed = signedAuthorizationSchema.safeParse(body).data
    return signed !== undefined && isWrite(signed) ? signed : null
  } catch {
    // Anyone may send calldata that no function of the contract accepts.
    return null
  }
}

function isWrite(signed: SignedAuthorization): signed is SignedWrite | SignedMove {
  return TYPES.some((type) => type === signed.primaryType)
}

/**
 * The authorizations of that type for an order whose calls stand anywhere in calldata, as a multicall or a smart account forwards
 * them. Anyone may put some there: the chain alone knows which one is effective.
 */
export function forwardedAuthorizations(primaryType: EndingType, orderId: Hex, data: Hex): SignedWrite[] {
  return callsIn(primaryType, data, { word: orderId.slice(2), at: STRUCT_AT, most: MAX_FORWARDED })
    .map(({ call }) => calledAuthorization(primaryType, call))
    .filter((found) => found !== null)
}

/**
 * All versions of an account's portfolio that stand in calldata: in a call of the ledger or the escrow, or anywhere in a call of
 * another contract. Anyone may put some there: the ledger's running hash, or the used digest, tells which one is effective.
 */
export function portfolioWrites(account: Hex, data: Hex): PortfolioWrite[] {
  const word = account.slice(2).toLowerCase().padStart(WORD_DIGITS, '0')
  const found = WRITES.flatMap(([type, at]) =>
    callsIn(type, data, { word, at, most: MAX_OF_ACCOUNT }).map(({ call, isDirect }) => {
      const signed = called(type, call)
      return signed && { signed, isDirect, ...writeOf(signed, at !== STRUCT_AT) }
    }),
  )
  return found.filter((write) => write !== null)
}

/** Where each call names the account: behind the order's id, or as the lost wallet or the new one of a move. */
const WRITES = [
  ['PortfolioUpdate', STRUCT_AT + WORD_DIGITS],
  ['OrderSettlement', STRUCT_AT + WORD_DIGITS],
  ['OrderRefund', STRUCT_AT + WORD_DIGITS],
  ['PortfolioMove', STRUCT_AT],
  ['PortfolioMove', STRUCT_AT + WORD_DIGITS],
] as const

/** @param isNew whether a move's new wallet is the account */
function writeOf({ primaryType, message }: SignedWrite | SignedMove, isNew: boolean) {
  const { version, previous, enclaveBlob, userBlob } = message
  if (primaryType !== 'PortfolioMove' || !isNew) return { version, previous, enclaveBlob, userBlob }
  return {
    version: message.toVersion,
    previous: message.toPrevious,
    enclaveBlob: message.toEnclaveBlob,
    userBlob: message.toUserBlob,
  }
}

/** The calls that have this word at this distance from their selector. */
function callsIn(
  primaryType: WriteType | 'PortfolioMove',
  data: Hex,
  { word, at, most }: { readonly word: string; readonly at: number; readonly most: number },
): { readonly call: Hex; readonly isDirect: boolean }[] {
  const calls: { call: Hex; isDirect: boolean }[] = []
  for (const place of placesOf(selectorOf(authorizationTargets[primaryType].method), data)) {
    if (calls.length === most) break
    if (!data.startsWith(word, place + at)) continue
    calls.push({ call: `0x${data.slice(place, place + 2 * MAX_CALL_BYTES)}`, isDirect: place === 2 })
  }
  return calls
}

/** Whether calldata is, or with `isForwarded` holds anywhere, a call that reclaims the order. */
export function isReclaim(orderId: Hex, data: Hex, isForwarded: boolean): boolean {
  const call = selectorOf('reclaim') + orderId.slice(2)
  const [place] = placesOf(call, data)
  return isForwarded ? place !== undefined : data.startsWith(call, 2)
}

/** Without `0x`. */
function selectorOf(method: string): string {
  return abi.selector(method).slice(2)
}

/** Where these digits stand in bytes as hex. */
function* placesOf(digits: string, data: Hex): Generator<number> {
  for (let at = data.indexOf(digits, 2); at !== -1; at = data.indexOf(digits, at + 1)) {
    if (at % 2 === 0) yield at
  }
}

/** The form that `POST /relay` accepts: integers as decimal text. */
function wireForm(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
