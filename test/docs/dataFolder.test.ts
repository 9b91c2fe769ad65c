import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('data/ is in the checkout with its README, and git ignores whatever appears in it', async () => {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'data'])
  expect(stdout.trim()).toBe('data/README.md')
  const named = [...(await readFile('data/README.md', 'utf8')).matchAll(/^\| (`[^|]+`) +\|/gm)]
    .flatMap(([, cell = '']) => cell.split(', '))
    .map((name) => `data/${name.replaceAll('`', '')}`)
  expect(named).toEqual(expect.arrayContaining(['data/sandbox', 'data/employee.key', 'data/server.db']))
  const ignored = await run('git', ['check-ignore', ...named])
  expect(ignored.stdout.trim().split('\n')).toEqual(named)
})
