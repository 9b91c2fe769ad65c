import { expect, it } from 'vitest'
import { judge } from '../../src/attestation/judge.js'
import { BORN } from '../../src/attestation/statement.js'
import { dstackBelow, measuredBy, verifyAttestation } from '../../src/attestation/tdx/index.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { tdx } from './vectors.js'

const verify = createVerifier(BORN, '', undefined, dstackBelow(tdx.root))

it.each(tdx.vectors.filter(({ code }) => code === null))(
  'evidence of dstack is accepted: $name',
  async (vector) => {
    expect(await judge(verify, tdx.inputOf(vector))).toMatchObject({
      outcome: 'accepted',
      statement: JSON.parse(tdx.base.attestation.statement),
    })
  },
)

it.each(tdx.vectors.filter(({ code }) => code !== null))(
  'evidence of dstack is $outcome with $code: $name',
  async (vector) => {
    const { code, outcome } = vector
    expect(await judge(verify, tdx.inputOf(vector))).toEqual({ outcome, code })
  },
)

it('the test root of processors is unknown to every program that is shipped', async () => {
  const refused = { outcome: 'refused', code: 'unknown-root' }
  expect(await judge(verifyAttestation, tdx.inputOf({}))).toEqual(refused)
  expect(() => measuredBy([])).toThrow(expect.objectContaining({ code: 'malformed-policy' }))
})
