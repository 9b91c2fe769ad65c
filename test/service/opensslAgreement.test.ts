import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uintToBytes } from '../../src/protocol/hex.js'
import { nobleAgreement } from '../../src/protocol/keyAgreement.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { opensslAgreement } from '../../src/service/opensslAgreement.js'

const scalar = fc
  .oneof(
    fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }),
    fc.constantFrom(1n, 2n, CURVE_ORDER / 2n, CURVE_ORDER - 1n),
  )
  .map((value) => uintToBytes(value, 32))
const both = [nobleAgreement, opensslAgreement]

test('OpenSSL and noble agree on the same key, from either side', () => {
  fc.assert(
    fc.property(scalar, scalar, (own, other) => {
      const [peer, same] = both.map((agree) => agree(other))
      expect(same?.publicKey).toEqual(peer?.publicKey)
      const [noble, openssl] = both.map((agree) => agree(own).sharedX(peer?.publicKey ?? own))
      expect(openssl).toEqual(noble)
      expect(same?.sharedX(nobleAgreement(own).publicKey)).toEqual(noble)
    }),
    { numRuns: 60 },
  )
})

test('a shared x keeps the zeros in front of it', () => {
  const own = uintToBytes(7n, 32)
  const peer = nobleAgreement(uintToBytes(344n, 32)).publicKey
  const [noble, openssl] = both.map((agree) => agree(own).sharedX(peer))
  expect(noble?.slice(0, 1)).toEqual(Uint8Array.of(0))
  expect(openssl).toEqual(noble)
})
