// The examples of the client's public functions, and of docs/client.md: each compiles against the package.
// test/e2e/clientExample.test.ts runs them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as library from '../../src/client/index.js'
import { exampleHead, sourceExamples, writeExamples } from './package/examples.js'
import { useInstalledPackage } from './package/installed.js'
import { compile } from './package/typeScript.js'

const installed = useInstalledPackage(['@types/node'])
const COMPILING_MS = 180_000

/** The functions of the library, and the methods of its client and its past. */
function publicNames(): string[] {
  const wallet: library.Eip1193Provider = { request: () => Promise.reject(new Error('nobody asks')) }
  const methods = Object.keys(library.createClient({ serverUrl: 'http://127.0.0.1:1', wallet }))
  const past = Object.keys(library.createPast(wallet, { escrow: `0x${'00'.repeat(20)}`, fromBlock: 0 }))
  const functions = Object.entries(library).flatMap(([name, value]) =>
    typeof value === 'function' && /^[a-z]/.test(name) ? [name] : [],
  )
  return [...methods, ...past, ...functions].sort()
}

it('every public function has one', async () => {
  expect([...(await sourceExamples()).keys()].sort()).toEqual(publicNames())
})

it('docs/client.md lists every public function', async () => {
  const page = await readFile('docs/client.md', 'utf8')
  const [, table = ''] = /^## Methods\n([\s\S]*?)^## /m.exec(page) ?? []
  expect([...table.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(publicNames())
})

it('all of them compile', { timeout: COMPILING_MS }, async () => {
  const { project, name } = installed()
  const files = await writeExamples({ project, name })
  expect(files.length).toBeGreaterThan(2)
  const options = { resolution: 'bundler', types: ['node'] } as const
  expect(await compile(project, files, options)).toBe('')
  await writeFile(join(project, 'wrong.ts'), `${exampleHead(name)}\nexport const a: string = client.lock()\n`)
  expect(await compile(project, ['wrong.ts'], options)).toContain('wrong.ts')
})
