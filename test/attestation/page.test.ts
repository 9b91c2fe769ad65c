import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { readVectors } from '../support/vectors.js'

const schema = z.object({ vectors: z.array(z.object({ code: z.string().nullable(), outcome: z.string() })) })

it('docs/attestation.md lists each code with its outcome, in the order of the checks', () => {
  const page = readFileSync('docs/attestation.md', 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z-]+)` \| (refused|unreadable|unsupported) \|/gm)]
  const { vectors } = readVectors('attestation', schema)
  const found = new Map(vectors.map(({ code, outcome }) => [code, outcome]))
  found.delete(null)
  expect(listed.map(([, code, outcome]) => [code, outcome])).toEqual([...found])
})
