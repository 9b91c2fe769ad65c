import { Interface } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAuthorizationCall, orderOfCall } from '../../src/chain/authorizationCall.js'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { platformPoolAbi } from '../../src/chain/generated/platformPoolAbi.js'
import { authorizationTargets } from '../../src/protocol/authorizationTypes.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'
import { structOf } from '../support/authorizations.js'

const interfaces = {
  ConfidentialLedger: new Interface(confidentialLedgerAbi),
  OrderEscrow: new Interface(orderEscrowAbi),
  PlatformPool: new Interface(platformPoolAbi),
}
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
