import { expect, it } from 'vitest'
import { provisionEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { hexToBytes } from '../../src/protocol/hex.js'
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
import { hexesIn } from '../support/vectors.js'
import provisioning from '../vectors/provisioning.json' with { type: 'json' }

const { holder, enclave, share, brokerKeys, ...vectors } = hexesIn(provisioning)
const provision = provisionSchema.parse(provisioning.provision)
const shares = provisioning.shares.map((each) => provisionEnvelopeSchema.parse(each))
const domain = { chainId: vectors.chainId, escrow: vectors.escrow }
const enclaveKey = hexToBytes(enclave.privateKey)
const drawn = ({ ephemeralPrivateKey, iv }: Pick<typeof share, 'ephemeralPrivateKey' | 'iv'>) => ({
  ephemeralKey: hexToBytes(ephemeralPrivateKey),
  iv: hexToBytes(iv),
})
const refused = (code: string) => expect.objectContaining({ code })

it('a holder gives an enclave the share of the vectors, sealed to the key in its evidence', async () => {
  const plaintext = masterShareSchema.parse(share.plaintext)
  expect(masterDigest(hexToBytes(vectors.master))).toBe(plaintext.master)
  const place = ['share-for-enclave', domain] as const
  const sealed = await sealShare(plaintext, enclave.publicKey, place, drawn(share))
  expect(sealed).toEqual(provision.envelope)
  expect(await openShare(provision.envelope, enclaveKey, place)).toEqual(plaintext)
})

it('a holder gives an enclave the broker’s keys in an envelope of their own kind', async () => {
  const keys = brokerKeysSchema.parse(brokerKeys.plaintext)
  const sealed = await sealBrokerKeys(keys, enclave.publicKey, domain, drawn(brokerKeys))
  expect(sealed).toEqual(provision.brokerKeys)
  expect(await openBrokerKeys(sealed, enclaveKey, domain)).toEqual(keys)
  const asKeys = openBrokerKeys(provision.envelope, enclaveKey, domain)
  await expect(asKeys).rejects.toThrow(refused('undecryptable'))
})

it('a provision is signed with the holder’s key', () => {
  expect(publicKeyOf(hexToBytes(holder.privateKey))).toBe(provision.holder)
  expect(provisionDigest(provision, enclave.publicKey)).toBe(vectors.digest)
  expect(signProvision(provision, enclave.publicKey, holder.privateKey)).toBe(provision.signature)
  expect(() => assertProvisionSigned(provision, enclave.publicKey)).not.toThrow()
})

it.each([
  ['another enclave', {}, holder.publicKey],
  ['another holder', { holder: enclave.publicKey }, enclave.publicKey],
  ['another envelope', { envelope: shares[0] ?? provision.envelope }, enclave.publicKey],
  ['no broker’s keys', { brokerKeys: undefined }, enclave.publicKey],
])('a provision is not signed for %s', (_, change, to) => {
  expect(() => assertProvisionSigned({ ...provision, ...change }, to)).toThrow(refused('wrong-signer'))
})

it('shares of a founding are two at least, named in their order', async () => {
  expect(sharesDigest(shares)).toBe(vectors.sharesDigest)
  expect(sharesDigest(shares.toReversed())).not.toBe(vectors.sharesDigest)
  const [first = expect.fail('the vectors have no shares')] = shares
  const opened = openShare(first, hexToBytes(holder.privateKey), ['share-of-holder', domain])
  expect(await opened).toEqual(share.plaintext)
  const founding = { format: 'aws-nitro', evidence: '', statement: '' }
  expect(foundingSchema.safeParse({ ...founding, shares }).success).toBe(true)
  expect(foundingSchema.safeParse({ ...founding, shares: shares.slice(1) }).success).toBe(false)
})
