import fc from 'fast-check'
import { checksum } from '../../src/protocol/address.js'
import type { Authorization } from '../../src/protocol/authorization.js'
import { bytesToHex } from '../../src/protocol/hex.js'

const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((array) => bytesToHex(array))
const bytes32 = bytes(32, 32)
const uint8 = fc.bigInt({ min: 0n, max: 255n })
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
/** Around the length of a word, where the padding begins another one, and of Keccak's block of 136 bytes. */
const blob = fc.oneof(bytes(0, 2), bytes(31, 33), bytes(63, 65), bytes(135, 137), bytes(0, 700))
const address = bytes(20, 20).map(checksum)
const order = { orderId: bytes32, account: address, asset: bytes32, amount: uint256, commit: bytes32 }
const write = { version: uint64, previous: bytes32, actions: bytes32, enclaveBlob: blob, userBlob: blob }
const batch = {
  symbol: bytes32,
  amount: uint256,
  expectedSupply: uint256,
  batch: uint64,
  countedUntil: uint64,
  actions: bytes32,
}

/** Any authorization of any of the seven types. */
export const anyAuthorization: fc.Arbitrary<Authorization> = fc.oneof(
  fc.record({
    primaryType: fc.constant('PortfolioUpdate' as const),
    message: fc.record({ ...order, state: uint8, ...write }),
  }),
  fc.record({
    primaryType: fc.constant('PortfolioMove' as const),
    message: fc.record({
      ...{ from: address, to: address, effectiveAt: uint64, userPubKeyHash: bytes32 },
      ...{ partsLeft: uint64, ...write },
      ...{ toVersion: uint64, toPrevious: bytes32, toEnclaveBlob: blob, toUserBlob: blob },
    }),
  }),
  fc.record({
    primaryType: fc.constant('PolicyUpdate' as const),
    message: fc.record({
      orgId: bytes32,
      admin: address,
      version: uint64,
      part: uint8,
      parts: uint8,
      digest: bytes32,
      policyBlob: blob,
    }),
  }),
  fc.record({
    primaryType: fc.constant('OrderSettlement' as const),
    message: fc.record({ ...order, payoutAsset: bytes32, payout: uint256, ...write }),
  }),
  fc.record({
    primaryType: fc.constant('OrderRefund' as const),
    message: fc.record({ ...order, ...write }),
  }),
  fc.record({ primaryType: fc.constant('BatchMint' as const), message: fc.record(batch) }),
  fc.record({ primaryType: fc.constant('BatchBurn' as const), message: fc.record(batch) }),
)
