import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { tdx, vectors } from './vectors.js'

const page = readFileSync('docs/attestation.md', 'utf8')

it('docs/attestation.md lists each code with its outcome, in the order of the checks', () => {
  const [common = [], ofDstack] = page.split('| Code of `dstack` |').map(rowsIn)
  expect(common).toEqual(codesOf(vectors))
  const known = new Set(common.map(([code]) => code))
  expect(ofDstack).toEqual(codesOf(tdx.vectors).filter(([code]) => !known.has(code ?? '')))
})

/** The rows of a table of codes. */
function rowsIn(text: string) {
  const rows = [...text.matchAll(/^\| `([a-z-]+)` \| (refused|unreadable|unsupported) \|/gm)]
  return rows.map(([, code, outcome]) => [code, outcome])
}

function codesOf(all: typeof vectors) {
  const found = new Map(all.map(({ code, outcome }) => [code, outcome]))
  found.delete(null)
  return [...found]
}
