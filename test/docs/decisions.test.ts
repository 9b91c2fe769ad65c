import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'

const FOLDER = 'docs/decisions'
const pages = readdirSync(FOLDER).filter((name) => /^\d{4}-/.test(name))

test('the decisions are numbered without gaps, and listed by their index, each once', () => {
  const expected = pages.map((_, index) => String(index + 1).padStart(4, '0'))
  expect(pages.map((name) => name.slice(0, 4)).sort()).toEqual(expected)
  const index = readFileSync(`${FOLDER}/README.md`, 'utf8')
  const listed = [...index.matchAll(/^- \[(\d{4})\]\(([^)]+)\): \S/gm)].map(([, , file]) => file)
  expect(listed.toSorted()).toEqual(pages.toSorted())
})

test('the record of libraries names every package that the project depends on', () => {
  const versions = z.record(z.string(), z.string())
  const manifest = z
    .object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')))
  const names = Object.values(manifest).flatMap((packages) => Object.keys(packages))
  const record = readFileSync(`${FOLDER}/0021-libraries-and-what-is-left-out.md`, 'utf8')
  const missing = names.filter((name) => !name.startsWith('@types/') && !record.includes(`\`${name}\``))
  expect(names.length).toBeGreaterThan(30)
  expect(missing).toEqual([])
})
