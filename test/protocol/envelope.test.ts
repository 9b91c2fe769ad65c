import { Point } from '@noble/secp256k1'
import { expect, it } from 'vitest'
import {
  commitOf,
  type EnvelopePlace,
  ORDER_PLACE,
  open,
  POLICY_PLACE,
  seal,
} from '../../src/protocol/envelope.js'
import { orderEnvelopeSchema } from '../../src/protocol/envelopeForm.js'
import { type Bytes, hexToBytes } from '../../src/protocol/hex.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'

const privateKey = hexToBytes(`0x${'11'.repeat(32)}`)
const recipient = publicKeyOf(privateKey)

it('an envelope draws a fresh ephemeral key and iv each time', async () => {
  const [one, two] = await Promise.all([seal(1, recipient, ORDER_PLACE), seal(1, recipient, ORDER_PLACE)])
  expect(one.epk).not.toBe(two.epk)
  expect(one.iv).not.toBe(two.iv)
  expect(commitOf(one)).not.toBe(commitOf(two))
})

it.each<[string, Bytes, EnvelopePlace]>([
  ['key', hexToBytes(`0x${'22'.repeat(32)}`), ORDER_PLACE],
  ['kind', privateKey, POLICY_PLACE],
  ['context', privateKey, { kind: 'order', context: new Uint8Array(32) }],
])('an envelope opens under no other %s', async (_, key, place) => {
  const envelope = await seal({ secret: true }, recipient, ORDER_PLACE)
  await expect(open(envelope, key, place)).rejects.toMatchObject({ code: 'undecryptable' })
})

it.each(['epk', 'iv', 'ct', 'tag'] as const)('an envelope is refused with a changed %s', async (member) => {
  const envelope = await seal({ secret: true }, recipient, ORDER_PLACE)
  const bytes = hexToBytes(envelope[member])
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1
  const changed = { ...envelope, [member]: `0x${Buffer.from(bytes).toString('hex')}` as const }
  await expect(open(changed, privateKey, ORDER_PLACE)).rejects.toMatchObject({ name: 'ProtocolError' })
})

it.each([
  ['a point off the curve', { epk: `0x02${'00'.repeat(31)}05` }],
  ['the point at infinity', { epk: '0x00' }],
  ['a short iv', { iv: `0x${'00'.repeat(11)}` }],
  ['a 16-byte iv', { iv: `0x${'00'.repeat(16)}` }],
  ['a short tag', { tag: `0x${'00'.repeat(15)}` }],
  ['an empty ciphertext', { ct: '0x' }],
  ['a ciphertext over the limit', { ct: `0x${'00'.repeat(4097)}` }],
  ['odd hex', { ct: '0xabc' }],
  ['no hex', { ct: '0xzz' }],
  ['an unknown member', { extra: 1 }],
  ['no prefix', { tag: '00'.repeat(16) }],
])('an envelope does not parse with %s', async (_, change) => {
  const envelope = await seal({}, recipient, ORDER_PLACE)
  expect(orderEnvelopeSchema.safeParse({ ...envelope, ...change }).success).toBe(false)
})

it('an envelope takes an uncompressed ephemeral key and either case of hex', async () => {
  const envelope = await seal('hello', recipient, ORDER_PLACE)
  const epk = `0x04${Point.fromBytes(hexToBytes(envelope.epk)).toHex(false).slice(2).toUpperCase()}`
  const ct = `0x${envelope.ct.slice(2).toUpperCase()}`
  const parsed = orderEnvelopeSchema.parse({ ...envelope, epk, ct })
  expect(parsed.ct).toBe(envelope.ct)
  expect(await open(parsed, privateKey, ORDER_PLACE)).toBe('hello')
})
