import type { Interface } from 'ethers'
import { type WordType, wordOf } from '../protocol/abiWord.js'
import type { ContractAddresses } from '../protocol/api.js'
import type { SignedAuthorization } from '../protocol/authorization.js'
import {
  type AuthorizedContract,
  authorizationTargets,
  authorizationTypes,
} from '../protocol/authorizationTypes.js'
import type { Hex } from '../protocol/hex.js'
import type { PrimaryType } from '../protocol/primaryTypes.js'
import { interfaces } from './interfaces.js'

const WORD_DIGITS = 64

const contracts: Record<AuthorizedContract, Interface> = {
  ConfidentialLedger: interfaces.confidentialLedger,
  OrderEscrow: interfaces.orderEscrow,
  PlatformPool: interfaces.platformPool,
}

const selectors: Record<PrimaryType, string> = {
  PortfolioUpdate: selectorOf('PortfolioUpdate'),
  PortfolioMove: selectorOf('PortfolioMove'),
  PolicyUpdate: selectorOf('PolicyUpdate'),
  OrderSettlement: selectorOf('OrderSettlement'),
  OrderRefund: selectorOf('OrderRefund'),
  BatchMint: selectorOf('BatchMint'),
  BatchBurn: selectorOf('BatchBurn'),
}

/** The first four bytes of a call, without `0x`. */
function selectorOf(primaryType: PrimaryType): string {
  const { contract, method } = authorizationTargets[primaryType]
  const found = contracts[contract].getFunction(method)
  if (found === null) throw new TypeError(`${contract} has no ${method}`)
  return found.selector.slice(2)
}

/** The contract that accepts an authorization of this type. */
export function targetOf(primaryType: PrimaryType, addresses: ContractAddresses): Hex {
  const { contract } = authorizationTargets[primaryType]
  if (contract === 'ConfidentialLedger') return addresses.confidentialLedger
  return contract === 'OrderEscrow' ? addresses.orderEscrow : addresses.platformPool
}

/** Calldata of the function that accepts the authorization with its signature: `method(struct, bytes)`. */
export function encodeAuthorizationCall({ primaryType, message, signature }: SignedAuthorization): Hex {
  const values: Readonly<Record<string, Hex | bigint>> = message
  const struct = encodeTuple(
    authorizationTypes[primaryType].map(({ name, type }) => encodeMember(type, values[name])),
  )
  return `0x${selectors[primaryType]}${encodeTuple([struct, encodeMember('bytes', signature)]).digits}`
}

/** Digits of selector and two offsets, behind which the struct of every such call begins; an order's has its id first. */
const orderStart = 8 + 2 * WORD_DIGITS

/** The order that an encoded write-ahead, settlement or refund is for, their first member; null for other types. */
export function orderOfCall(primaryType: PrimaryType, data: Hex): Hex | null {
  if (authorizationTypes[primaryType][0]?.name !== 'orderId') return null
  return `0x${data.slice(2 + orderStart, 2 + orderStart + WORD_DIGITS)}`
}

/** Part of a call's arguments. */
interface Encoded {
  /** Whether its length depends on its value: then an offset stands in its place, and it follows behind. */
  readonly isDynamic: boolean
  /** Hex digits without `0x`. */
  readonly digits: string
}

/** Our own, because ethers is hundreds of times as slow. https://docs.soliditylang.org/en/latest/abi-spec.html */
function encodeMember(type: WordType | 'bytes', value: Hex | bigint | undefined): Encoded {
  if (type !== 'bytes') return { isDynamic: false, digits: wordOf(type, value) }
  const bytes = String(value).slice(2)
  const padded = bytes.padEnd(Math.ceil(bytes.length / WORD_DIGITS) * WORD_DIGITS, '0')
  return { isDynamic: true, digits: lengthWord(bytes.length) + padded }
}

/** First what is static, and the offsets of the rest; then the rest. */
function encodeTuple(members: readonly Encoded[]): Encoded {
  const headDigits = members.reduce(
    (sum, { isDynamic, digits }) => sum + (isDynamic ? WORD_DIGITS : digits.length),
    0,
  )
  let head = ''
  let tail = ''
  for (const { isDynamic, digits } of members) {
    if (isDynamic) {
      head += lengthWord(headDigits + tail.length)
      tail += digits
    } else head += digits
  }
  return { isDynamic: tail !== '', digits: head + tail }
}

/** A number of bytes, given as that of their digits. */
function lengthWord(digits: number): string {
  return wordOf('uint256', BigInt(digits / 2))
}
