import fc from 'fast-check'
import { checksum } from '../../src/protocol/address.js'
import type { Authorization } from '../../src/protocol/authorization.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { PRIMARY_TYPES } from '../../src/protocol/primaryTypes.js'

const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((array) => bytesToHex(array))
const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n })

const OF_TYPE = {
  bytes32: bytes(32, 32),
  address: bytes(20, 20).map(checksum),
  uint8: uint(8n),
  uint64: uint(64n),
  uint256: uint(256n),
  /** Around the length of a word, where the padding begins another one, and of Keccak's block of 136 bytes. */
  bytes: fc.oneof(bytes(0, 2), bytes(31, 33), bytes(63, 65), bytes(135, 137), bytes(0, 700)),
}

/** Any authorization of any type, made from the fields that the contracts check. */
export const anyAuthorization: fc.Arbitrary<Authorization> = fc.oneof(
  ...PRIMARY_TYPES.map((primaryType) => {
    const fields = authorizationTypes[primaryType].map(({ name, type }) => [name, OF_TYPE[type]] as const)
    return fc
      .record(Object.fromEntries(fields))
      .map((message) => ({ primaryType, message }) as unknown as Authorization)
  }),
)
