import { expect, it } from 'vitest'
import { verifyAttestation } from '../../src/attestation/index.js'
import { judge } from '../../src/attestation/judge.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { base, inputOf, root, vectors } from './vectors.js'

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
