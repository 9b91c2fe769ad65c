import { describe, expect, it } from 'vitest'
import { type Authorization, signAuthorization } from '../../src/protocol/authorization.js'
import { authorizationTargets, authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../src/protocol/hex.js'
import { CURVE_ORDER, recoverAddress, splitSignature } from '../../src/protocol/signature.js'
import { callWith, digestOf, domainOf, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { type OneOfEach, PRIMARY_TYPES, setUpOneOfEach } from '../support/oneOfEach.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER } from '../support/roles.js'

const OTHER_KEY: Hex = `0x${'07'.repeat(32)}`

let one: OneOfEach
const chain = useChain(async (set) => {
  one = await setUpOneOfEach(set)
})

const KEYS = { ConfidentialLedger: 'ledger', OrderEscrow: 'escrow', PlatformPool: 'pool' } as const

const sign = (authorization: Authorization, key = ENCLAVE_KEY): Hex =>
  signAuthorization(authorization, domainOf(chain(), authorization.primaryType), key).signature

/** The same value, but another: the last byte or the number changed. */
function altered(value: unknown): unknown {
  if (typeof value === 'bigint') return value + 1n
  const bytes = hexToBytes(String(value))
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1
  return bytesToHex(bytes)
}

/** The refusal of the enclave's signature when the contract checks another digest. */
const refusal = (got: Hex) => ({ name: 'InvalidSigner', args: { expected: ENCLAVE_SIGNER, got } })

describe.each(PRIMARY_TYPES)('%s', (primaryType) => {
  const valid = () => one.of(primaryType)
  const contract = KEYS[authorizationTargets[primaryType].contract]
  const revert = (call: ReturnType<typeof signedCall>) => chain().revert('relayer', ...call)

  it('takes effect, marks its digest, and never takes effect again', async () => {
    const digest = digestOf(chain(), valid())
    expect(await chain().read(contract, 'usedDigest', digest)).toBe(false)
    await chain().send('dave', ...signedCall(chain(), valid()))
    expect(await chain().read(contract, 'usedDigest', digest)).toBe(true)
    expect(await revert(signedCall(chain(), valid()))).toEqual({ name: 'DigestUsed', args: { digest } })
  })

  it.each(authorizationTypes[primaryType].map(({ name }, index) => [name, index] as const))(
    'is refused when %s was changed after signing',
    async (_, index) => {
      const [target, method, struct, signature] = signedCall(chain(), valid())
      const forged = struct.map((value, place) => (place === index ? altered(value) : value))
      const digest = await chain().read(contract, `hash${primaryType}`, forged)
      const got = recoverAddress(`0x${String(digest).slice(2)}`, signature)
      expect(got).not.toBe(ENCLAVE_SIGNER)
      expect(await revert([target, method, forged, signature])).toEqual(refusal(got))
      expect(await revert([target, method, struct, signature])).toBeNull()
    },
  )

  it('is refused when it was signed for another chain or another contract', async () => {
    const domain = domainOf(chain(), primaryType)
    const others = [
      { ...domain, chainId: domain.chainId + 1 },
      { ...domain, verifyingContract: chain().addressOf('registry') },
    ]
    for (const other of others) {
      const call = signedCall(chain(), valid(), { domain: other })
      expect(await revert(call)).toEqual(refusal(recoverAddress(digestOf(chain(), valid()), call[3])))
    }
  })

  it('is refused when another key signed it', async () => {
    const call = signedCall(chain(), valid(), { key: OTHER_KEY })
    expect(await revert(call)).toEqual(refusal(recoverAddress(digestOf(chain(), valid()), call[3])))
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

it('a mint’s signature is no burn’s, and the other way round', async () => {
  const [mint, burn] = [one.of('BatchMint'), one.of('BatchBurn')]
  for (const [carried, signed] of [
    [burn, mint],
    [mint, burn],
  ] as const) {
    const got = recoverAddress(digestOf(chain(), carried), sign(signed))
    expect(await chain().revert('relayer', ...callWith(carried, sign(signed)))).toEqual(refusal(got))
  }
})
