import { expect, it } from 'vitest'
import { z } from 'zod'
import { measuredBy, verifyAttestation } from '../../src/attestation/index.js'
import { judge } from '../../src/attestation/judge.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { base, inputOf, root, vectors } from './vectors.js'

const address = z.templateLiteral(['0x', z.string()])
const expectedSchema = z.object({
  programs: z.array(
    z.object({ label: z.string(), pcrs: z.record(z.string(), z.string()), configuration: address }),
  ),
  chainId: z.number(),
  escrow: address,
  signer: address,
  now: z.number(),
})

it.each(vectors.filter(({ code }) => code === null))('an attestation is accepted: $name', async (vector) => {
  expect(await judge(createVerifier(root), inputOf(vector))).toMatchObject({
    outcome: 'accepted',
    statement: JSON.parse(base.attestation.statement),
  })
})

const refused = vectors.filter(({ code }) => code !== null)

it.each(refused)('an attestation is $outcome with $code: $name', async (vector) => {
  const { code, outcome } = vector
  expect(await judge(createVerifier(vector.root ?? root), inputOf(vector))).toEqual({ outcome, code })
})

it('the test root is unknown to every program that is shipped', async () => {
  expect(await judge(verifyAttestation, inputOf({}))).toEqual({ outcome: 'refused', code: 'unknown-root' })
})

it('measurements of a client name a program, and trust the root of AWS alone', async () => {
  expect(() => measuredBy([])).toThrow(expect.objectContaining({ code: 'malformed-policy' }))
  const { attestation, expected } = inputOf({})
  const { programs, ...platform } = expectedSchema.parse(expected)
  await expect(measuredBy(programs)(attestation, platform)).rejects.toMatchObject({ code: 'unknown-root' })
})
