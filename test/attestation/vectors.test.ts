import { expect, it } from 'vitest'
import { z } from 'zod'
import { measuredBy, verifyAttestation } from '../../src/attestation/index.js'
import { judge } from '../../src/attestation/judge.js'
import { createStartingVerifier } from '../../src/attestation/starting.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { inputOf, root, type Vector, vectors } from './vectors.js'

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

/** Judged as a holder does, or a client. */
function judgeVector(vector: Vector) {
  const { origin, root: trusted = root } = vector
  const input = inputOf(vector)
  if (origin === 'starting') return judge(createStartingVerifier(trusted), input)
  return judge(createVerifier(BORN, trusted), input)
}

it.each(vectors.filter(({ code }) => code === null))('an attestation is accepted: $name', async (vector) => {
  const { statement } = z.object({ statement: z.string() }).parse(inputOf(vector).attestation)
  expect(await judgeVector(vector)).toMatchObject({
    outcome: 'accepted',
    measurement: vector.measurement,
    statement: JSON.parse(statement),
  })
})

const refused = vectors.filter(({ code }) => code !== null)

it.each(refused)('an attestation is $outcome with $code: $name', async (vector) => {
  const { code, outcome } = vector
  expect(await judgeVector(vector)).toEqual({ outcome, code })
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
