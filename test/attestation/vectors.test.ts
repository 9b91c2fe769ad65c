import { expect, it } from 'vitest'
import * as z from 'zod'
import { measuredBy, verifyAttestation } from '../../src/attestation/index.js'
import { judge } from '../../src/attestation/judge.js'
import { createStartingVerifier } from '../../src/attestation/starting.js'
import { BORN } from '../../src/attestation/statement.js'
import * as ofDstack from '../../src/attestation/tdx/index.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { inputOf, root, tdx, type Vector, vectors } from './vectors.js'

/** Judged as a holder does, or a client. */
function judgeVector(vector: Vector) {
  const { origin, root: trusted = root } = vector
  const input = inputOf(vector)
  if (origin === 'starting') return judge(createStartingVerifier(trusted), input)
  return judge(createVerifier(BORN, trusted), input)
}
const verifyTdx = createVerifier(BORN, '', undefined, ofDstack.dstackBelow(tdx.root))

const all = [
  ...vectors.map((vector) => ({ ...vector, input: inputOf(vector), judged: () => judgeVector(vector) })),
  ...tdx.vectors.map((vector) => {
    const input = tdx.inputOf(vector)
    return { ...vector, name: `dstack: ${vector.name}`, input, judged: () => judge(verifyTdx, input) }
  }),
]

it.each(all.filter(({ code }) => code === null))(
  'an attestation is accepted: $name',
  async ({ input, measurement, judged }) => {
    const { statement } = z.object({ statement: z.string() }).parse(input.attestation)
    expect(await judged()).toMatchObject({
      ...{ outcome: 'accepted', statement: JSON.parse(statement) },
      ...(measurement !== undefined && { measurement }),
    })
  },
)

it.each(all.filter(({ code }) => code !== null))(
  'an attestation is $outcome with $code: $name',
  async ({ code, outcome, judged }) => {
    expect(await judged()).toEqual({ outcome, code })
  },
)

const { programs, ...platform } = inputOf({}).expected

it('the test roots are unknown to every program that is shipped, by whatever programs a client names', async () => {
  const refused = { outcome: 'refused', code: 'unknown-root' }
  expect(await judge(verifyAttestation, inputOf({}))).toEqual(refused)
  expect(await judge(ofDstack.verifyAttestation, tdx.inputOf({}))).toEqual(refused)
  const named = measuredBy(Object(programs))
  await expect(named(Object(inputOf({}).attestation), Object(platform))).rejects.toMatchObject({
    code: 'unknown-root',
  })
})

it.each([measuredBy, ofDstack.measuredBy])('measurements name a program', (measured) => {
  expect(() => measured([])).toThrow(expect.objectContaining({ code: 'malformed-policy' }))
})
