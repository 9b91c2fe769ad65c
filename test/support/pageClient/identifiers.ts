// Names and accounts as 32 bytes, and the tokens of shares: sections 2 and 8 of docs/protocol.md.
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

const CLONE_HEAD = '0x61004d3d81600a3d39f3363d3d373d3d3d363d73'
const CLONE_TAIL = '0x5af43d82803e903d91602b57fd5bf3'

/** The ERC-20 of an equity's shares. */
export function sharesOf(token: Hex, symbol: string): Hex {
  const [creator, name] = [fromHex(token, 20), fromHex(nameBytes(symbol), 32)]
  const implementation = addressFrom(fromHex('0xd694'), creator, fromHex('0x01'))
  const code = Buffer.concat([fromHex(CLONE_HEAD), implementation, fromHex(CLONE_TAIL), name])
  return toHex(addressFrom(fromHex('0xff'), creator, name, fromHex(keccak256(code), 32)))
}

const addressFrom = (...parts: Uint8Array[]): Buffer =>
  fromHex(keccak256(Buffer.concat(parts)), 32).subarray(12)
