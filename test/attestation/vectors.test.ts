// The vectors of an own root (scripts/attestationVectors.ts): each has one fault, or none.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { verifyAttestation } from '../../src/attestation/index.js'
import { judge } from '../../src/attestation/judge.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { readVectors } from '../support/vectors.js'

const part = z.record(z.string(), z.unknown())
const { root, base, vectors } = readVectors(
  'attestation',
  z.object({
    root: z.string(),
    base: z.object({ attestation: part, expected: part }),
    vectors: z.array(
      z.object({
        name: z.string(),
        code: z.string().nullable(),
        outcome: z.string(),
        attestation: z.unknown().optional(),
        expected: part.optional(),
        root: z.string().optional(),
      }),
    ),
  }),
)

function inputOf({ attestation = {}, expected }: Partial<(typeof vectors)[number]>) {
  const changed = part.safeParse(attestation)
  return {
    attestation: changed.success ? { ...base.attestation, ...changed.data } : attestation,
    expected: { ...base.expected, ...expected },
  }
}

it.each(vectors.filter(({ code }) => code === null))('an attestation is accepted: $name', async (vector) => {
  expect(await judge(createVerifier(root), inputOf(vector))).toMatchObject({
    outcome: 'accepted',
    statement: JSON.parse(String(base.attestation.statement)),
  })
})

it.each(vectors.filter(({ code }) => code !== null))(
  'an attestation is $outcome with $code: $name',
  async (vector) => {
    const { code, outcome } = vector
    expect(await judge(createVerifier(vector.root ?? root), inputOf(vector))).toEqual({ outcome, code })
  },
)

it('the test root is unknown to every program that is shipped', async () => {
  expect(await judge(verifyAttestation, inputOf({}))).toEqual({ outcome: 'refused', code: 'unknown-root' })
})
