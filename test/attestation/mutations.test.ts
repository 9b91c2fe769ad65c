// Evidence whose bytes were changed. A push tries the same few, a night a million others: see .ci/run.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { ES384, payload as payloadOf } from '../../scripts/attestation/documents.js'
import { readCbor } from '../../src/attestation/cbor.js'
import { AttestationError } from '../../src/attestation/errors.js'
import { judge } from '../../src/attestation/judge.js'
import { BORN } from '../../src/attestation/statement.js'
import { dstackBelow } from '../../src/attestation/tdx/index.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { type Bytes, bytesToHex, concatBytes, hexToBytes } from '../../src/protocol/hex.js'
import { cbor, Pairs } from '../../src/simulator/device/encode.js'
import { SEED } from '../support/seed.js'
import { base, inputOf, root, tdx } from './vectors.js'

const A_PUSH = 1_000
const MUTATIONS = z.coerce.number().int().positive().default(A_PUSH).parse(process.env.MUTATIONS)
const EACH_MS = 30
/** The length that a reader could be made to take, 2^24: a list of so many has eight times as many bytes. */
const ANNOUNCED_BYTES = 16_777_216
const runs = {
  numRuns: MUTATIONS,
  seed: MUTATIONS > A_PUSH || process.env.SEED !== undefined ? SEED : 1,
}
const time = { timeout: 60_000 + MUTATIONS * EACH_MS }

const bytes = z.instanceof(Uint8Array)
const sign1 = z.tuple([bytes, z.instanceof(Map), bytes, bytes])
const evidence = Uint8Array.from(Buffer.from(base.attestation.evidence, 'base64'))
const [, , document, signature] = sign1.parse(readCbor(evidence))
const payload = Uint8Array.from(document)
const { certificate, cabundle, user_data } = z
  .object({ certificate: bytes, cabundle: z.array(bytes), user_data: bytes })
  .parse(Object.fromEntries(z.map(z.string(), z.unknown()).parse(readCbor(payload))))
const chain = [...cabundle, certificate]

/** Some bytes are taken out of a place, and others put in. */
const change = fc.record({
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  out: fc.integer({ min: 0, max: 4 }),
  put: fc.uint8Array({ maxLength: 4 }),
})
const changedOf = (whole: Bytes) =>
  fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce((before, { place, out, put }) => {
      const start = Math.round(place * before.length)
      return concatBytes(before.slice(0, start), put, before.slice(start + out))
    }, whole),
  )

/** Changed anywhere, or in a certificate below the root, with lengths that fit. */
const changedEvidence = fc.oneof(
  changedOf(evidence),
  ...[1, 2].map((index) =>
    changedOf(chain[index] ?? certificate).map((other) => {
      const content = payloadOf(user_data, { chain: chain.with(index, other) })
      return cbor([ES384, new Pairs([]), content, signature])
    }),
  ),
)

/** The same payload with the same signature in another frame, such as a tagged one, is the same document. */
function isSame(changed: Uint8Array): boolean {
  const text = bytesToHex(changed)
  return text.includes(bytesToHex(payload).slice(2)) && text.includes(bytesToHex(signature).slice(2))
}

it('changed evidence is refused with a code, and none is accepted', time, async () => {
  const verify = createVerifier(BORN, root)
  const property = fc.asyncProperty(changedEvidence, async (changed) => {
    fc.pre(!isSame(changed))
    const attestation = { evidence: Buffer.from(changed).toString('base64') }
    const { outcome } = await judge(verify, inputOf({ attestation }))
    expect(outcome).not.toBe('accepted')
  })
  await fc.assert(property, runs)
})

it('evidence of dstack that is changed is refused with a code, or says the same', time, async () => {
  const verify = createVerifier(BORN, '', undefined, dstackBelow(tdx.root))
  const whole = Uint8Array.from(Buffer.from(tdx.base.attestation.evidence, 'base64'))
  const unchanged = await judge(verify, tdx.inputOf({}))
  const property = fc.asyncProperty(changedOf(whole), async (changed) => {
    const attestation = { evidence: Buffer.from(changed).toString('base64') }
    const judgement = await judge(verify, tdx.inputOf({ attestation }))
    if (judgement.outcome === 'accepted') expect(judgement).toEqual(unchanged)
  })
  await fc.assert(property, runs)
})

it('an announced length that the bytes do not have is refused, and no memory is taken for it', () => {
  const held = () => {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  // Bytes, text, a list, a map: each alone, in a list, and as a value.
  for (const major of [2, 3, 4, 5]) {
    for (const length of ['1a01000000', '1b0000010000000000']) {
      const announced = hexToBytes(`0x${length}`)
      announced[0] = (announced[0] ?? 0) + major * 32
      for (const before of ['0x', '0x81', '0x9f', '0xa100', '0xbf00'] as const) {
        const bytes = concatBytes(hexToBytes(before), announced)
        const heldBefore = held()
        expect(() => readCbor(bytes)).toThrow(AttestationError)
        expect(held() - heldBefore, bytesToHex(bytes)).toBeLessThan(ANNOUNCED_BYTES / 4)
      }
    }
  }
})
