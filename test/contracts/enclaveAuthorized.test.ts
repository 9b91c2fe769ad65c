import { describe, expect, it } from 'vitest'
import { type Authorization, signAuthorization } from '../../src/protocol/authorization.js'
import { authorizationTargets } from '../../src/protocol/authorizationTypes.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../src/protocol/hex.js'
import { CURVE_ORDER, splitSignature } from '../../src/protocol/signature.js'
import { callWith, digestOf, domainOf, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
import { ENCLAVE_KEY } from '../support/roles.js'

let one: OneOfEach
const chain = useChain(async (set) => {
  one = await setUpOneOfEach(set)
})

const KEYS = { ConfidentialLedger: 'ledger', OrderEscrow: 'escrow', PlatformPool: 'pool' } as const

const sign = (authorization: Authorization): Hex =>
  signAuthorization(authorization, domainOf(chain(), authorization.primaryType), ENCLAVE_KEY).signature

describe.each(PRIMARY_TYPES)('%s', (primaryType) => {
  const valid = () => one.of(primaryType)
  const contract = KEYS[authorizationTargets[primaryType].contract]
  const revert = (call: ReturnType<typeof signedCall>) => chain().revert('relayer', ...call)

  // No other digest than the one of all its members, this chain and this contract recovers the signer.
  it('takes effect, marks its digest, and never takes effect again', async () => {
    const digest = digestOf(chain(), valid())
    expect(await chain().read(contract, 'usedDigest', digest)).toBe(false)
    await chain().send('dave', ...signedCall(chain(), valid()))
    expect(await chain().read(contract, 'usedDigest', digest)).toBe(true)
    expect(await revert(signedCall(chain(), valid()))).toEqual({ name: 'DigestUsed', args: { digest } })
  })

  it('is refused with a signature of any other form', async () => {
    const signature = sign(valid())
    const { r, s, v } = splitSignature(signature)
    const form = (...parts: Uint8Array[]) => revert(callWith(valid(), bytesToHex(concatBytes(...parts))))
    for (const length of [0, 64, 66]) {
      const bytes = concatBytes(hexToBytes(signature), Uint8Array.of(0)).subarray(0, length)
      expect(await form(bytes)).toEqual({
        name: 'ECDSAInvalidSignatureLength',
        args: { length: `${length}` },
      })
    }
    for (const wrong of [v - 27, v - 26, 26, 29]) {
      expect(await form(r, s, Uint8Array.of(wrong))).toEqual({ name: 'ECDSAInvalidSignature', args: {} })
    }
    const highS = uintToBytes(CURVE_ORDER - bytesToUint(s), 32)
    expect(await form(r, highS, Uint8Array.of(v === 27 ? 28 : 27))).toEqual({
      name: 'ECDSAInvalidSignatureS',
      args: { s: bytesToHex(highS) },
    })
    expect(await form(new Uint8Array(32), s, Uint8Array.of(v))).toEqual({
      name: 'ECDSAInvalidSignature',
      args: {},
    })
  })
})
