import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAuthorizationCall } from '../../src/chain/authorizationCall.js'
import { calledAuthorization } from '../../src/chain/calledAuthorization.js'
import { authorizationTargets } from '../../src/protocol/authorizationTypes.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { anyAuthorization } from '../support/authorizationArbitrary.js'
import { grantedOrder, refund } from '../support/authorizations.js'
import { INTERFACES } from '../support/chain.js'
import { bytes32 } from '../support/institution.js'

/** A signature that the schema takes: 65 bytes, low s, `v` 27. */
const SIGNATURE = bytesToHex(new Uint8Array([...new Array(64).fill(1), 27]))

test('a call of the escrow gives back the authorization that it was made of', () => {
  fc.assert(
    fc.property(anyAuthorization, (authorization) => {
      const signed = { ...authorization, signature: SIGNATURE }
      const { contract } = authorizationTargets[authorization.primaryType]
      const expected = contract === 'OrderEscrow' ? signed : null
      expect(calledAuthorization(encodeAuthorizationCall(signed))).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})

test('any other call gives none', () => {
  const whole = encodeAuthorizationCall({
    ...refund(grantedOrder(`0x${'0a'.repeat(20)}`)),
    signature: SIGNATURE,
  })
  expect(calledAuthorization('0x')).toBeNull()
  expect(calledAuthorization('0x12345678')).toBeNull()
  expect(calledAuthorization(`0x${whole.slice(2, 200)}`)).toBeNull()
  expect(
    calledAuthorization(`0x${INTERFACES.escrow.encodeFunctionData('reclaim', [bytes32('x')]).slice(2)}`),
  ).toBeNull()
})
