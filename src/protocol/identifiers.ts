import * as z from 'zod/mini'
import { checksum } from './address.js'
import { ProtocolError } from './errors.js'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from './hex.js'
import { keccak256 } from './keccak.js'

/** 1 to 31 printable ASCII characters, which fit `bytes32`. A space at either end would look like padding. */
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,29}[\x21-\x7e])?$/

/** An equity's ticker as brokers write it, or `USDC`. */
export const symbolSchema = z.string().check(z.regex(/^[A-Z][A-Z0-9.]{0,10}$/, 'expected a ticker symbol'))

/** The ticker of an equity that the platform can list. */
export const equitySymbolSchema = /* @__PURE__ */ symbolSchema.check(
  z.refine((symbol) => symbol !== 'USDC', 'USDC is no equity'),
)

/**
 * EIP-155's `v = 2 × chain id + 36` leaves a double's exact integers just above it. MetaMask has the same bound
 * (`MAX_SAFE_CHAIN_ID`); https://eips.ethereum.org/EIPS/eip-2294 explains why chains keep to one.
 */
export const MAX_CHAIN_ID = 4_503_599_627_370_476

/** The id of a chain that transactions can be signed for. */
export const chainIdSchema = z.int().check(z.positive(), z.maximum(MAX_CHAIN_ID))

const chainIdMessage = `expected a chain id from 1 to ${MAX_CHAIN_ID}`

/** A chain id as text, as in an environment variable. */
export const chainIdTextSchema = z
  .pipe(z.string().check(z.regex(/^[1-9]\d{0,15}$/, chainIdMessage)), z.transform(Number))
  .check(z.refine((id) => id <= MAX_CHAIN_ID, chainIdMessage))

/** `accountId = keccak256(abi.encodePacked(address))`. */
export function accountIdOf(address: Hex): Hex {
  return keccak256(hexToBytes(address))
}

/**
 * `bytes32` of a name: ASCII, left-aligned, zero-padded. Used for `orgId` and for symbols.
 * @throws ProtocolError `invalid-name` for what is not 1 to 31 printable ASCII characters
 * @example const orgIdOfName = nameToBytes32('Example Capital')
 */
export function nameToBytes32(name: string): Hex {
  if (!NAME.test(name)) throw new ProtocolError('invalid-name', 'expected 1 to 31 printable ASCII characters')
  const bytes = new Uint8Array(32)
  bytes.set(new TextEncoder().encode(name))
  return bytesToHex(bytes)
}

/**
 * The name in a `bytes32`, or `null` if it holds none.
 * @example const name = bytes32ToName(orgId)
 */
export function bytes32ToName(id: Hex): string | null {
  const text = new TextDecoder('latin1').decode(hexToBytes(id)).replace(/\0+$/, '')
  return NAME.test(text) ? text : null
}

/** ERC-1167 with one word behind its code: what the clone's creation code has before and after the implementation. */
const CLONE = { head: '0x61004d3d81600a3d39f3363d3d373d3d3d363d73', tail: '0x5af43d82803e903d91602b57fd5bf3' }

/**
 * What a contract's constructor creates first, by CREATE: `EquityToken` the implementation that every equity's shares delegate to,
 * `ConfidentialLedger` the list of corporate actions.
 */
export function firstCreationOf(creator: Hex): Hex {
  return checksum(bytesToHex(addressIn(hexToBytes('0xd694'), hexToBytes(creator), hexToBytes('0x01'))))
}

/**
 * The ERC-20 of an equity's shares: a clone of the token's {@link firstCreationOf}, by CREATE2 with the symbol as its salt.
 * @param token the address of `EquityToken`
 */
export function sharesAddressOf(token: Hex, symbol: string): Hex {
  const salt = hexToBytes(nameToBytes32(symbol))
  const implementation = hexToBytes(firstCreationOf(token))
  const code = concatBytes(hexToBytes(CLONE.head), implementation, hexToBytes(CLONE.tail), salt)
  const parts = [hexToBytes('0xff'), hexToBytes(token), salt, hexToBytes(keccak256(code))]
  return checksum(bytesToHex(addressIn(...parts)))
}

/** The last 20 bytes of the hash. */
function addressIn(...parts: Uint8Array[]) {
  return hexToBytes(keccak256(concatBytes(...parts))).slice(12)
}

/**
 * The broker's client order id: the first 32 hex digits of `orderId`, without `0x`. A limit order that was renewed has its count behind
 * them: `-1` for the first renewal.
 */
export function clientOrderIdOf(orderId: Hex, renewals = 0): string {
  const id = orderId.slice(2, 34)
  return renewals === 0 ? id : `${id}-${renewals}`
}

/** The 32 hex digits in a client order id of the platform's form, which renewals share; null for one of another form. */
export function orderPrefixOf(clientOrderId: string): string | null {
  return /^([0-9a-f]{32})(?:-[1-9]\d{0,3})?$/.exec(clientOrderId)?.[1] ?? null
}
