import { Signature } from 'ethers'
import { beforeEach, describe, expect, test } from 'vitest'
import { bytesToHex, type Hex, hexToBytes, uintToBytes } from '../../../src/protocol/hex.js'
import { addressOfPublicKey, publicKeyOf } from '../../../src/protocol/publicKey.js'
import { CURVE_ORDER, recoverAddress } from '../../../src/protocol/signature.js'
import { signDigest } from '../../../src/protocol/signDigest.js'
import { createKeySigner, openKmsKey } from '../../../src/server/signer/signer.js'
import { batchMint } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { AAPL, MSFT, setUpInstitution, shares } from '../../support/institution.js'
import { encodeDer, type KmsStandIn, kmsClientOf, startKmsStandIn } from '../../support/kmsStandIn.js'
import { ROLES } from '../../support/roles.js'
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
    for (const number of [...Array(16).keys(), ...SHORT_R, ...SHORT_S]) {
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

  test('is refused when it is of another kind', async () => {
    kms.keySpec = 'ECC_NIST_P256'
    await expect(open()).rejects.toMatchObject({ name: 'RelayerKeyError' })
  })

  test('hands out no bytes that are not its own signature of the digest', async () => {
    const key = await open()
    const own = signDigest(digestOf(1), PRIVATE_KEY)
    await key.signDigest(digestOf(1))
    const [der = new Uint8Array()] = kms.signatures
    const another = Signature.from(signDigest(digestOf(1), `0x${'18'.repeat(32)}`))
    const others = [
      new Uint8Array(),
      Uint8Array.of(0x30, 0),
      Uint8Array.of(0x30, 6, 2, 1, 0, 2, 1, 0),
      der.subarray(0, -1),
      encodeDer(BigInt(another.r), BigInt(another.s)),
      encodeDer(CURVE_ORDER, 1n),
      encodeDer(1n, 2n ** 256n - 1n),
      ...Array.from(der, (byte, at) => der.with(at, byte ^ 1)),
    ]
    for (const other of others) {
      kms.other = other
      const given = await key.signDigest(digestOf(1)).catch((error: unknown) => error)
      if (given !== own) expect(given, bytesToHex(other)).toBeInstanceOf(Error)
    }
  })
})

const chain = useChain(setUpInstitution)

test('the relay signs by a key in KMS, goes on after KMS failed or was silent, and leaves no nonce open', async () => {
  const account = chain().anvil.accounts[ROLES.indexOf('relayer')]
  const own = await startKmsStandIn(account?.privateKey ?? '0x')
  const client = { ...kmsClientOf(own), maxAttempts: 1 }
  const key = await openKmsKey({ keyId: 'alias/relayer', client })
  const relay = await startRelay({ chain: chain(), signer: createKeySigner(key) })
  own.half = 'high'
  own.failure = { status: 400, type: 'KeyUnavailableException' }
  const first = relay.relay(batchMint(AAPL, shares(5)))
  await soon(() => relay.log.text()).toContain('relay step failed')
  own.failure = undefined
  expect(receiptOf(await first).status).toBe('confirmed')
  own.isSilent = true
  const second = relay.relay(batchMint(MSFT, shares(5)))
  await soon(() => relay.log.text()).toContain('"errorName":"TimeoutError"')
  own.isSilent = false
  expect(receiptOf(await second).status).toBe('confirmed')
})
