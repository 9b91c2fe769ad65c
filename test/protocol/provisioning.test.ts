import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { provisionEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { bytes32Schema, hexOf, hexToBytes } from '../../src/protocol/hex.js'
import { masterDigest, masterShareSchema, openShare, sealShare } from '../../src/protocol/masterShare.js'
import {
  assertProvisionSigned,
  brokerKeysSchema,
  foundingSchema,
  openBrokerKeys,
  provisionDigest,
  provisionSchema,
  sealBrokerKeys,
  sharesDigest,
  signProvision,
} from '../../src/protocol/provisioning.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { readVectors } from '../support/vectors.js'

const key = z.object({ privateKey: bytes32Schema, publicKey: hexOf(33) })
const randomness = { ephemeralPrivateKey: hexOf(32), iv: hexOf(12) }
const vectors = readVectors(
  'provisioning',
  z.object({
    chainId: z.number(),
    escrow: hexOf(20),
    master: bytes32Schema,
    holder: key,
    enclave: key,
    share: z.object({ ...randomness, plaintext: masterShareSchema }),
    brokerKeys: z.object({ ...randomness, plaintext: brokerKeysSchema }),
    digest: bytes32Schema,
    provision: provisionSchema,
    shares: z.array(provisionEnvelopeSchema),
    sharesDigest: bytes32Schema,
  }),
)
const { holder, enclave, share, brokerKeys, provision } = vectors
const domain = { chainId: vectors.chainId, escrow: vectors.escrow }
const enclaveKey = hexToBytes(enclave.privateKey)
const drawn = ({ ephemeralPrivateKey, iv }: Pick<typeof share, 'ephemeralPrivateKey' | 'iv'>) => ({
  ephemeralKey: hexToBytes(ephemeralPrivateKey),
  iv: hexToBytes(iv),
})
const refused = (code: string) => expect.objectContaining({ code })

describe('what a holder gives an enclave', () => {
  it('is the share of the vectors, sealed to the key in its evidence', async () => {
    expect(masterDigest(hexToBytes(vectors.master))).toBe(share.plaintext.master)
    const place = ['share-for-enclave', domain] as const
    expect(await sealShare(share.plaintext, enclave.publicKey, place, drawn(share))).toEqual(
      provision.envelope,
    )
    expect(await openShare(provision.envelope, enclaveKey, place)).toEqual(share.plaintext)
  })

  it('has the broker’s keys in an envelope of their own kind', async () => {
    const sealed = await sealBrokerKeys(brokerKeys.plaintext, enclave.publicKey, domain, drawn(brokerKeys))
    expect(sealed).toEqual(provision.brokerKeys)
    expect(await openBrokerKeys(sealed, enclaveKey, domain)).toEqual(brokerKeys.plaintext)
    await expect(openBrokerKeys(provision.envelope, enclaveKey, domain)).rejects.toThrow(
      refused('undecryptable'),
    )
  })

  it('is signed with the holder’s key', () => {
    expect(publicKeyOf(hexToBytes(holder.privateKey))).toBe(provision.holder)
    expect(provisionDigest(provision, enclave.publicKey)).toBe(vectors.digest)
    expect(signProvision(provision, enclave.publicKey, holder.privateKey)).toBe(provision.signature)
    expect(() => assertProvisionSigned(provision, enclave.publicKey)).not.toThrow()
  })

  it.each([
    ['another enclave', provision, holder.publicKey],
    ['another holder', { ...provision, holder: enclave.publicKey }, enclave.publicKey],
    [
      'another envelope',
      { ...provision, envelope: vectors.shares[0] ?? provision.envelope },
      enclave.publicKey,
    ],
    ['no broker’s keys', { ...provision, brokerKeys: undefined }, enclave.publicKey],
  ])('is not signed for %s', (_, given, to) => {
    expect(() => assertProvisionSigned(given, to)).toThrow(refused('wrong-signer'))
  })
})

it('shares of a founding are named in their order', async () => {
  expect(sharesDigest(vectors.shares)).toBe(vectors.sharesDigest)
  expect(sharesDigest([...vectors.shares].reverse())).not.toBe(vectors.sharesDigest)
  const [first] = vectors.shares
  if (first === undefined) throw new Error('the vectors have no shares')
  const opened = openShare(first, hexToBytes(holder.privateKey), ['share-of-holder', domain])
  expect(await opened).toEqual(share.plaintext)
})

it('a founding has two shares at least', () => {
  const founding = { format: 'aws-nitro', evidence: '', statement: '' }
  expect(foundingSchema.safeParse({ ...founding, shares: vectors.shares }).success).toBe(true)
  expect(foundingSchema.safeParse({ ...founding, shares: vectors.shares.slice(1) }).success).toBe(false)
})
