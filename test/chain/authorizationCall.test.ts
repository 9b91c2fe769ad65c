import { Interface } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAuthorizationCall, orderOfCall } from '../../src/chain/authorizationCall.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { authorizationTargets, authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { MAX_PART_BYTES } from '../../src/protocol/ledgerBlob.js'
import { PRIMARY_TYPES } from '../../src/protocol/primaryTypes.js'
import { MAX_TRANSACTION_BYTES } from '../../src/server/signer/transaction.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'
import { structOf } from '../support/authorizations.js'

const interfaces = {
  ConfidentialLedger: new Interface(confidentialLedgerAbi),
  OrderEscrow: new Interface(orderEscrowAbi),
  PlatformPool: new Interface(platformPoolAbi),
}
/** Bytes of a transaction besides its calldata: nonce, fees, address, signature and their lengths. */
const ENVELOPE_BYTES = 256
const anySignature = fc.uint8Array({ minLength: 65, maxLength: 65 }).map((bytes) => bytesToHex(bytes))

test('calldata is what ethers encodes from the contract’s ABI, and tells the order that it ends, if any', () => {
  fc.assert(
    fc.property(anyAuthorization, anySignature, (authorization, signature) => {
      const { primaryType, message } = authorization
      const { contract, method } = authorizationTargets[primaryType]
      const expected = interfaces[contract].encodeFunctionData(method, [structOf(authorization), signature])
      const data = encodeAuthorizationCall({ ...authorization, signature })
      expect(data).toBe(expected)
      expect(orderOfCall(primaryType, data)).toBe('orderId' in message ? message.orderId : null)
    }),
    { numRuns: 300 },
  )
})

test.each(PRIMARY_TYPES)(
  'the longest %s that the relay takes fits a transaction of 128 kB',
  (primaryType) => {
    /** The body with blobs beyond their bound by so many bytes. */
    const bodyOf = (beyond: number) => {
      const lengths = { address: 20, bytes32: 32, bytes: 20_480 + beyond }
      const values = authorizationTypes[primaryType].map(({ name, type }): [string, string] => {
        if (type === 'uint8' || type === 'uint64' || type === 'uint256') return [name, '1']
        const length = name === 'policyBlob' ? MAX_PART_BYTES + beyond : lengths[type]
        return [name, `0x${'00'.repeat(length)}`]
      })
      return { primaryType, message: Object.fromEntries(values), signature: `0x${'11'.repeat(65)}` }
    }
    const longest = signedAuthorizationSchema.parse(bodyOf(0))
    const hasBlobs = authorizationTypes[primaryType].some(({ type }) => type === 'bytes')
    expect(signedAuthorizationSchema.safeParse(bodyOf(1)).success).toBe(!hasBlobs)
    const bytes = (encodeAuthorizationCall(longest).length - 2) / 2
    expect(bytes + ENVELOPE_BYTES).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
  },
)
