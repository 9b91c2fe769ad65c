import { getAddress } from 'ethers'
import * as z from 'zod/mini'
import type { Hex } from './hex.js'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Recently computed checksums, keyed by lower-case address: the same addresses recur, up to those of a whole rulebook. */
const recent = new Map<string, Hex>()
const MAX_RECENT = 32_768

/** The EIP-55 form of a 20-byte address. */
export function checksum(address: string): Hex {
  const plain = address.toLowerCase()
  const known = recent.get(plain)
  if (known !== undefined) return known
  const found: Hex = `0x${getAddress(plain).slice(2)}`
  if (recent.size === MAX_RECENT) recent.clear()
  recent.set(plain, found)
  return found
}

/** https://eips.ethereum.org/EIPS/eip-55: digits of one case have no checksum. */
function hasRightChecksum(address: string): boolean {
  if (address === checksum(address)) return true
  const digits = address.slice(2)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase()
}

/** An address on the wire: any case in (a wrong EIP-55 checksum is an error), checksummed out. */
export const addressSchema = z.codec(
  z
    .string()
    .check(
      z.regex(ADDRESS, { error: 'expected 0x and 40 hex digits', abort: true }),
      z.refine(hasRightChecksum, 'wrong EIP-55 checksum'),
    ),
  z.custom<Hex>(),
  { decode: (text) => checksum(text), encode: (address) => address },
)

/** The zero address, which the contracts return for "none". */
export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Whether two addresses are the same account; ignores case. */
export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
