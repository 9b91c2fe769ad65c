// Names and accounts as 32 bytes: section 2 of docs/protocol.md.
import { keccak256 } from 'ethers'
import { fromHex, type Hex, toHex, utf8 } from './bytes.js'

const NAME = /^[!-~](?:[ -~]{0,29}[!-~])?$/

export const accountIdOf = (account: Hex): Buffer => fromHex(keccak256(fromHex(account, 20)), 32)

/** An institution's name, or a ticker, left-aligned. */
export function nameBytes(name: string): Hex {
  if (!NAME.test(name)) throw new Error('expected 1 to 31 printable ASCII characters')
  return toHex(Buffer.concat([utf8(name), Buffer.alloc(32 - name.length)]))
}

export const nameOf = (bytes: Hex): string => fromHex(bytes, 32).toString('ascii').replace(/\0+$/, '')
