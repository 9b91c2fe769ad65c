import { getAddress, isAddress } from 'ethers'
import * as z from 'zod'
import type { Hex } from './hex.js'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** The EIP-55 form of a 20-byte address. */
export function checksum(address: string): Hex {
  return `0x${getAddress(address).slice(2)}`
}

/** An address on the wire: any case in (a wrong EIP-55 checksum is an error), checksummed out. */
export const addressSchema = z.codec(
  z
    .string()
    .regex(ADDRESS, 'expected 0x and 40 hex digits')
    .refine((text) => isAddress(text), 'wrong EIP-55 checksum'),
  z.templateLiteral(['0x', z.string()]),
  { decode: (text) => checksum(text), encode: (address) => address },
)

/** The zero address, which the contracts return for "none". */
export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Whether two addresses are the same account, whatever their case. */
export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
