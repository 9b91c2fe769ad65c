import { Signature } from 'ethers'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes, uintToBytes } from '../../../src/protocol/hex.js'
import { addressOfPublicKey, publicKeyOf } from '../../../src/protocol/publicKey.js'
import { CURVE_ORDER, recoverAddress, signDigest } from '../../../src/protocol/signature.js'
import { openKmsKey, parseDerSignature } from '../../../src/server/signer/signer.js'
import { batchMint } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { AAPL, MSFT, setUpInstitution, shares } from '../../support/institution.js'
import { encodeDer, type KmsStandIn, kmsClientOf, startKmsStandIn } from '../../support/kmsStandIn.js'
import { ROLES } from '../../support/roles.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { receiptOf, soon, startRelay } from '../relay/relayUnderTest.js'

const PRIVATE_KEY: Hex = `0x${'17'.repeat(32)}`
const ADDRESS = addressOfPublicKey(hexToBytes(publicKeyOf(hexToBytes(PRIVATE_KEY))))
const digestOf = (number: number): Hex => bytesToHex(uintToBytes(BigInt(number) + 1n, 32))

/** The key's signature of these digests has an r, and a low s, of 31 bytes. */
const SHORT_R = [845, 1_281, 1_973, 2_132]
const SHORT_S = [16, 1_248, 2_052]

let kms: KmsStandIn
beforeEach(async () => {
  kms = await startKmsStandIn(PRIVATE_KEY)
})
const open = () => openKmsKey({ keyId: 'alias/relayer', client: kmsClientOf(kms) })

describe('a key in KMS', () => {
  test('has the address of its public key', async () => {
    expect((await open()).address).toBe(ADDRESS)
  })

  test('signs the digest as it is, and is asked for nothing else', async () => {
    const key = await open()
    await key.signDigest(digestOf(7))
    expect(kms.requests).toEqual([
      { operation: 'GetPublicKey', body: { KeyId: 'alias/relayer' } },
      {
        operation: 'Sign',
        body: {
          KeyId: 'alias/relayer',
          Message: Buffer.from(hexToBytes(digestOf(7))).toString('base64'),
          MessageType: 'DIGEST',
          SigningAlgorithm: 'ECDSA_SHA_256',
        },
      },
    ])
  })

  test('gives the same low-s signature as the key in memory, whichever half KMS chose and however short r is', async () => {
    const key = await open()
    const recovered = new Set<string>()
    for (const number of [...Array(64).keys(), ...SHORT_R, ...SHORT_S]) {
      kms.half = number % 2 === 0 ? 'low' : 'high'
      const digest = digestOf(number)
      const signature = await key.signDigest(digest)
      expect(signature).toBe(signDigest(digest, PRIVATE_KEY))
      recovered.add(`${kms.half} ${Signature.from(signature).v}`)
      expect(recoverAddress(digest, signature)).toBe(ADDRESS)
    }
    expect([...recovered].sort()).toEqual(['high 27', 'high 28', 'low 27', 'low 28'])
    const lengths = kms.signatures.map((der) => [der[3], der[5 + (der[3] ?? 0)]])
    expect(new Set(lengths.map(([r]) => r))).toEqual(new Set([31, 32, 33]))
    expect(new Set(lengths.map(([, s]) => s))).toEqual(new Set([31, 32, 33]))
  })

  test('of another kind is refused', async () => {
    kms.keySpec = 'ECC_NIST_P256'
    await expect(open()).rejects.toMatchObject({ name: 'RelayerKeyError' })
  })

  test('that KMS does not give is named by its failure alone', async () => {
    kms.failure = { status: 400, type: 'AccessDeniedException' }
    await expect(open()).rejects.toThrow(/^AWS KMS does not give .*: AccessDeniedException\.$/)
  })

  test('needs its package: a clear error without it', async () => {
    const load = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' }))
    const failure = openKmsKey({ keyId: 'alias/relayer', load })
    await expect(failure).rejects.toMatchObject({ name: 'RelayerKeyError' })
    await expect(failure).rejects.toThrow('@aws-sdk/client-kms')
  })

  test('fails to sign as KMS says', async () => {
    const key = await open()
    kms.failure = { status: 400, type: 'KeyUnavailableException' }
    await expect(key.signDigest(digestOf(1))).rejects.toMatchObject({ name: 'KeyUnavailableException' })
  })
})

describe('a signature in DER', () => {
  const scalar = fc.oneof(
    fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }),
    fc.bigInt({ min: 1n, max: 2n ** 64n }),
    fc.integer({ min: 1, max: 31 }).map((bytes) => 2n ** BigInt(8 * bytes) - 1n),
    fc.integer({ min: 1, max: 31 }).map((bytes) => 2n ** BigInt(8 * bytes - 1)),
  )

  test('is read whatever the length of its integers', () => {
    fc.assert(
      fc.property(scalar, scalar, (r, s) => {
        expect(parseDerSignature(encodeDer(r, s))).toEqual({ r, s })
      }),
    )
  })

  test('is refused when any byte of its frame is another, or missing', () => {
    const der = encodeDer(2n ** 255n, 2n ** 200n)
    expect(() => parseDerSignature(der.subarray(0, -1))).toThrow(TypeError)
    expect(() => parseDerSignature(Uint8Array.of(...der, 0))).toThrow(TypeError)
    for (const at of [0, 1, 2, 3, 4, 37, 38]) {
      const changed = Uint8Array.from(der)
      changed[at] = (changed[at] ?? 0) ^ 0x81
      expect(() => parseDerSignature(changed), String(at)).toThrow(TypeError)
    }
    const others: Hex[] = [
      '0x',
      '0x30',
      '0x3000',
      '0x30060201000201',
      '0x300702020001020101',
      '0x3006020180020101',
    ]
    for (const bad of others) {
      expect(() => parseDerSignature(hexToBytes(bad)), bad).toThrow(TypeError)
    }
  })
})

describe('the relay with a key in KMS', () => {
  const chain = useChain(setUpInstitution)

  async function startWithKms() {
    const account = chain().anvil.accounts[ROLES.indexOf('relayer')]
    const own = await startKmsStandIn(account?.privateKey ?? '0x')
    const key = await openKmsKey({
      keyId: 'alias/relayer',
      client: { ...kmsClientOf(own), maxAttempts: 1 },
    })
    return { own, relay: await startRelay({ chain: chain(), dataDir: await temporaryDirectory(), key }) }
  }

  test('relays with it, goes on after KMS failed, and leaves no nonce open', async () => {
    const { own, relay } = await startWithKms()
    own.half = 'high'
    expect(receiptOf(await relay.relay(batchMint(AAPL, shares(5)))).status).toBe('confirmed')
    own.failure = { status: 400, type: 'KeyUnavailableException' }
    const pending = relay.relay(batchMint(MSFT, shares(5)))
    await soon(() => relay.log.text()).toContain('relay step failed')
    own.failure = undefined
    expect(receiptOf(await pending).status).toBe('confirmed')
  })

  test('goes on after KMS took what it was to sign, and did not answer', async () => {
    const { own, relay } = await startWithKms()
    own.isSilent = true
    const pending = relay.relay(batchMint(AAPL, shares(5)))
    await soon(() => relay.log.text()).toContain('"errorName":"TimeoutError"')
    own.isSilent = false
    expect(receiptOf(await pending).status).toBe('confirmed')
    expect(receiptOf(await relay.relay(batchMint(MSFT, shares(5)))).status).toBe('confirmed')
  })
})
