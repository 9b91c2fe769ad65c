import * as z from 'zod'
import { readVectors } from '../support/vectors.js'

const part = z.record(z.string(), z.unknown())
const schema = z.object({
  root: z.string(),
  base: z.object({
    attestation: z.object({ format: z.string(), evidence: z.string(), statement: z.string() }),
    expected: part,
  }),
  vectors: z.array(
    z.object({
      name: z.string(),
      code: z.string().nullable(),
      outcome: z.string(),
      attestation: z.unknown().optional(),
      expected: part.optional(),
      root: z.string().optional(),
      origin: z.literal('starting').optional(),
      measurement: z.string().optional(),
    }),
  ),
})

/** The vectors of a file, and a whole input of `judge` for one: the base with what the vector changes. */
function vectorsOf(name: string) {
  const { base, ...read } = readVectors(name, schema)
  const inputOf = ({ attestation = {}, expected }: Pick<Partial<Vector>, 'attestation' | 'expected'>) => {
    const changed = part.safeParse(attestation)
    return {
      attestation: changed.success ? { ...base.attestation, ...changed.data } : attestation,
      expected: { ...base.expected, ...expected },
    }
  }
  return { ...read, base, inputOf }
}

export type Vector = z.output<typeof schema>['vectors'][number]
export const { root, base, vectors, inputOf } = vectorsOf('attestation')
/** Those of dstack. */
export const tdx = vectorsOf('attestationTdx')
