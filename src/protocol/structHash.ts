// EIP-712 for frequently hashed structs whose members are words and byte strings; faster than the general encoder.
// https://eips.ethereum.org/EIPS/eip-712
import { type WordType, wordOf } from './abiWord.js'
import { type Hex, hexToBytes } from './hex.js'
import { keccak256, textHash } from './keccak.js'

/** A member of a struct: a word, or a byte string, which is encoded as its hash. */
export interface StructMember {
  readonly name: string
  readonly type: WordType | 'bytes'
}

/** The values of a struct by the names of its members. */
export type StructValues = Readonly<Record<string, Hex | bigint>>

const DOMAIN = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

/** hashStruct(s) = keccak256(typeHash ‖ encodeData(s)). Computes the type's hash once. */
export function createStructHash(
  name: string,
  members: readonly StructMember[],
): (values: StructValues) => Hex {
  const typeHash = textHash(`${name}(${members.map((member) => `${member.type} ${member.name}`).join(',')})`)
  return (values) => {
    const words = members.map((member) => wordIn(member, values[member.name]))
    return keccak256(hexToBytes(typeHash + words.join('')))
  }
}

function wordIn({ type }: StructMember, value: Hex | bigint | undefined): string {
  return type === 'bytes' ? keccak256(hexToBytes(String(value))).slice(2) : wordOf(type, value)
}

/** hashStruct of the domain `{ name, version, chainId, verifyingContract }`. */
export function domainSeparator(name: string, version: string, chainId: number, contract: Hex): Hex {
  const words = [textHash(name).slice(2), textHash(version).slice(2)]
  words.push(wordOf('uint256', BigInt(chainId)), wordOf('address', contract))
  return keccak256(hexToBytes(textHash(DOMAIN) + words.join('')))
}

/** The digest to sign: keccak256(0x19 ‖ 0x01 ‖ domainSeparator ‖ hashStruct). */
export function digestOfStruct(separator: Hex, structHash: Hex): Hex {
  return keccak256(hexToBytes(`0x1901${separator.slice(2)}${structHash.slice(2)}`))
}
