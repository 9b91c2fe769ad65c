import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { vectors } from './vectors.js'

it('docs/attestation.md lists each code with its outcome, in the order of the checks', () => {
  const page = readFileSync('docs/attestation.md', 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z-]+)` \| (refused|unreadable|unsupported) \|/gm)]
  const found = new Map(vectors.map(({ code, outcome }) => [code, outcome]))
  found.delete(null)
  expect(listed.map(([, code, outcome]) => [code, outcome])).toEqual([...found])
})
