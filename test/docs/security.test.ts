import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('SECURITY.md', 'utf8')
const rows = [...page.matchAll(/^\| \*\*(.+?)\*\*.*\| ([^|]+) \|$/gm)].map(
  ([, actor = '', proofs = '']) => [actor, proofs] as const,
)

/** Names in backticks are files of test/attacks; the others name their folder. */
function filesOf(proofs: string): string[] {
  return proofs
    .split(/[,;]/)
    .map((proof) => proof.trim())
    .map((proof) => (proof.startsWith('`') ? `attacks/${proof.slice(1, -1)}` : proof))
    .map((name) => `test/${name}.test.ts`)
}

test.each(rows)('the tests that SECURITY.md names for %s exist', (_actor, proofs) => {
  expect(filesOf(proofs).filter((file) => !existsSync(file))).toEqual([])
})

test('each actor of SECURITY.md has a row', () => {
  expect(rows.length).toBe(page.split('\n| **').length - 1)
  expect(rows.length).toBeGreaterThan(10)
})

test.each(readdirSync('test/attacks').filter((name) => name.endsWith('.test.ts')))(
  'test/attacks/%s begins with its story',
  (name) => {
    const [story = ''] = readFileSync(`test/attacks/${name}`, 'utf8').split(/\n(?!\/\/ )/)
    const parts = [...story.matchAll(/^\/\/ (Actor|Cost|Effect|Now): ./gm)].map(([, part]) => part)
    expect(parts).toEqual(['Actor', 'Cost', 'Effect', 'Now'])
  },
)
