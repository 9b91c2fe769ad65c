// The rulebook as it is sealed: each policy has exactly one encoding, and its length shows a size class alone.

import * as z from 'zod/mini'
import { MAX_ENCODED_BYTES } from './envelopeForm.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytesToHex, bytesToUint, hexToBytes, uintToBytes } from './hex.js'
import { allRules, type Policy, policySchema, type Rule } from './policy.js'

const FORMAT = 0x01
const LEAST_BYTES = 1_024
const ADDRESS_BYTES = 20

/** Bits of the byte behind the format. */
const [WITHDRAWALS, DEFAULT, GROUPS] = [1, 2, 4]
/** Bits of a rule's first byte. */
const [BUY, SELL, GROUP, RESTRICTED] = [1, 2, 4, 8]

/**
 * The bytes of a policy, padded with zeros to its size class: 4, 5, 6 or 7 times a power of two, at least 1,024.
 * @throws ProtocolError `invalid-bytes` when they would be more than MAX_ENCODED_BYTES
 */
export function encodePolicy(policy: Policy): Bytes {
  const { employees, groups, default: byDefault, maxOrderNotional, allowWithdrawShares } = policy
  const found = new Set<string>()
  for (const { restricted } of allRules(policy)) for (const symbol of restricted) found.add(symbol)
  const symbols = [...found].sort()
  const names = Object.keys(groups ?? {}).sort()
  let bytes = new Uint8Array(LEAST_BYTES)
  let at = 0
  const grow = (by: number) => {
    at += by
    if (at <= bytes.length) return
    const longer = new Uint8Array(2 * at)
    longer.set(bytes)
    bytes = longer
  }
  const byte = (value: number) => {
    grow(1)
    bytes[at - 1] = value
  }
  const count = (value: number) => {
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) byte((rest & 0x7f) | 0x80)
    byte(rest)
  }
  const raw = (content: Uint8Array) => {
    grow(content.length)
    bytes.set(content, at - content.length)
  }
  const positionsIn = (list: readonly string[]) => {
    const positions = new Map(list.map((name, at) => [name, at]))
    return (name: string) => count(positions.get(name) ?? list.length)
  }

  const prefixed = (content: Uint8Array) => {
    count(content.length)
    raw(content)
  }
  const text = (value: string) => prefixed(new TextEncoder().encode(value))
  const [symbolAt, groupAt] = [positionsIn(symbols), positionsIn(names)]
  const write = (rule: Rule) => {
    if ('group' in rule) {
      byte(GROUP)
      return groupAt(rule.group)
    }
    const { canBuy, canSell, restricted } = rule
    byte((canBuy ? BUY : 0) | (canSell ? SELL : 0) | (restricted.length > 0 ? RESTRICTED : 0))
    if (restricted.length > 0) count(restricted.length)
    for (const symbol of restricted) symbolAt(symbol)
  }

  byte(FORMAT)
  byte((allowWithdrawShares ? WITHDRAWALS : 0) | (byDefault ? DEFAULT : 0) | (groups ? GROUPS : 0))
  prefixed(uintToBytes(maxOrderNotional, Math.ceil(maxOrderNotional.toString(16).length / 2)))
  count(symbols.length)
  for (const symbol of symbols) text(symbol)
  if (groups) count(names.length)
  for (const name of names) {
    text(name)
    const shared = groups?.[name]
    if (shared) write(shared)
  }
  if (byDefault) write(byDefault)
  const wallets = Object.keys(employees).sort()
  // All at once: of ten thousand, reading each by itself takes twice as long as all the rest.
  const addresses = hexToBytes(`0x${wallets.map((wallet) => wallet.slice(2)).join('')}`)
  count(wallets.length)
  for (const [index, wallet] of wallets.entries()) {
    raw(addresses.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES))
    const rule = employees[wallet]
    if (rule) write(rule)
  }
  const size = sizeClassOf(at)
  if (size > MAX_ENCODED_BYTES) throw new ProtocolError('invalid-bytes', 'the policy is too long')
  const padded = new Uint8Array(size)
  padded.set(bytes.subarray(0, at))
  return padded
}

/**
 * The policy in its bytes.
 * @throws ProtocolError `invalid-plaintext` for any other bytes than those that `encodePolicy` gives
 */
export function decodePolicy(bytes: Bytes): Policy {
  try {
    const policy = read(bytes)
    // Whatever is not encoded in the one way, or breaks the schema, ends here.
    z.encode(policySchema, policy)
    const encoded = encodePolicy(policy)
    if (encoded.length === bytes.length && encoded.every((byte, at) => byte === bytes[at])) return policy
  } catch {
    // Told below.
  }
  throw new ProtocolError('invalid-plaintext', 'the plaintext is not the encoding of a policy')
}

function read(bytes: Bytes): Policy {
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw new RangeError('the encoding ends early')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = () => take(1)[0] ?? 0
  const count = () => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const next = byte()
      value |= (next & 0x7f) << shift
      if (next < 0x80) return value
    }
    throw new RangeError('a number is too long')
  }
  const text = () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(count()))
  const listOf = <T>(item: () => T): T[] => {
    const length = count()
    // Each item has a byte at least: no number can make an array that the bytes could not fill.
    if (length > bytes.length) throw new RangeError('a list is too long')
    return Array.from({ length }, item)
  }
  const within = (names: readonly string[]) => {
    const name = names[count()]
    if (name === undefined) throw new RangeError('a table ends early')
    return name
  }

  if (byte() !== FORMAT) throw new RangeError('another format')
  const flags = byte()
  const maxOrderNotional = bytesToUint(take(count()))
  const symbols = listOf(text)
  const rules = (first: number) => ({
    canBuy: (first & BUY) !== 0,
    canSell: (first & SELL) !== 0,
    restricted: first & RESTRICTED ? listOf(() => within(symbols)) : [],
  })
  const groups = flags & GROUPS ? listOf(() => [text(), rules(byte())] as const) : undefined
  const names = groups?.map(([name]) => name) ?? []
  const rule = (): Rule => {
    const first = byte()
    return first & GROUP ? { group: within(names) } : rules(first)
  }
  const byDefault = flags & DEFAULT ? rule() : undefined
  const employees = Object.fromEntries(listOf(() => [bytesToHex(take(ADDRESS_BYTES)), rule()] as const))
  return {
    employees,
    ...(groups && { groups: Object.fromEntries(groups) }),
    ...(byDefault && { default: byDefault }),
    maxOrderNotional,
    allowWithdrawShares: (flags & WITHDRAWALS) !== 0,
  }
}

/** The least of the sizes 4, 5, 6 and 7 times a power of two that holds so many bytes. */
function sizeClassOf(length: number): number {
  if (length <= LEAST_BYTES) return LEAST_BYTES
  const step = 2 ** (Math.floor(Math.log2(length)) - 2)
  return Math.ceil(length / step) * step
}
