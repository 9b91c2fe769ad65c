import { keccak_256 } from '@noble/hashes/sha3.js'
import { TypedDataEncoder } from 'ethers'
import { type Authorization, authorizationDomain } from '../../../src/protocol/authorization.js'
import { authorizationTypes, type PrimaryType } from '../../../src/protocol/authorizationTypes.js'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { domainOf } from '../authorizations.js'
import type { TestChain } from '../chain.js'

const PREFIX = Uint8Array.of(0x19, 0x01)

/**
 * EIP-712 digests of one chain's authorizations. Types and domains are hashed once and not with each message:
 * there are ten thousands of them.
 */
export function createDigests(chain: TestChain): (authorization: Authorization) => Hex {
  const prepare = (primaryType: PrimaryType) => ({
    encoder: TypedDataEncoder.from({ [primaryType]: authorizationTypes[primaryType] }),
    separator: hexToBytes(
      TypedDataEncoder.hashDomain(authorizationDomain(primaryType, domainOf(chain, primaryType))),
    ),
  })
  const known = new Map<PrimaryType, ReturnType<typeof prepare>>()
  return ({ primaryType, message }) => {
    const { encoder, separator } = known.get(primaryType) ?? prepare(primaryType)
    known.set(primaryType, { encoder, separator })
    return bytesToHex(keccak_256(concatBytes(PREFIX, separator, hexToBytes(encoder.hash(message)))))
  }
}
