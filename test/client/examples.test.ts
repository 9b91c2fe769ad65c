// The examples of the client's public functions, and of docs/client.md: each compiles against the package.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Eip1193Provider } from 'ethers'
import { expect, it } from 'vitest'
import * as library from '../../src/client/index.js'
import { useInstalledPackage } from './package/installed.js'
import { compile } from './package/typeScript.js'

const installed = useInstalledPackage(['@types/node'])
const COMPILING_MS = 180_000

/** What the examples speak of. */
const SETTING = `
declare const client: Client
declare const [account, orgId, orderId]: [Hex, Hex, Hex]
declare const order: SubmittableOrder & SignedOrder
declare const policy: Policy
declare const [text, bytes, deadline]: [string, Uint8Array, number]
declare const entries: readonly HistoryEntry[]
`
const TYPES = ['Client', 'Hex', 'HistoryEntry', 'Policy', 'SignedOrder', 'SubmittableOrder']
const SOURCES = ['src/client', 'src/protocol']

/** Each `@example` with the function that it stands before. */
async function examples(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const folder of SOURCES) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const source = await readFile(join(folder, name), 'utf8')
      const pattern = /@example (.+?)(?: \*\/)?\n(?:\s+\*.*\n)*\s*(?:export )?(?:async )?(?:function )?(\w+)/g
      for (const [, code = '', subject = ''] of source.matchAll(pattern)) found.set(subject, code)
    }
  }
  return found
}

/** The functions of the library, and the methods of its client. */
function publicNames(): string[] {
  const wallet: Eip1193Provider = { request: () => Promise.reject(new Error('nobody asks')) }
  const methods = Object.keys(library.createClient({ serverUrl: 'http://127.0.0.1:1', wallet }))
  const functions = Object.entries(library).flatMap(([name, value]) =>
    typeof value === 'function' && /^[a-z]/.test(name) ? [name] : [],
  )
  return [...methods, ...functions].sort()
}

it('every public function has one', async () => {
  expect([...(await examples()).keys()].sort()).toEqual(publicNames())
})

it('all of them compile', { timeout: COMPILING_MS }, async () => {
  const { project, name } = installed()
  const values = Object.keys(library).join(', ')
  const types = TYPES.map((type) => `type ${type}`).join(', ')
  const bodies = [...(await examples())].map(
    ([subject, code]) => `export async function _${subject}() {\n${code}\n}`,
  )
  const head = `import { ${values}, ${types} } from '${name}'\ndeclare global { interface Window { ethereum: import('ethers').Eip1193Provider } }`
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(project, 'examples.ts'), [head, SETTING, ...bodies].join('\n'))
  const page = await readFile('docs/client.md', 'utf8')
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  expect(blocks.length).toBeGreaterThan(1)
  const files = await Promise.all(
    blocks.map(async (block, index) => {
      await writeFile(join(project, `page${index}.ts`), block)
      return `page${index}.ts`
    }),
  )
  const options = { resolution: 'bundler', types: ['node'] } as const
  expect(await compile(project, ['examples.ts', ...files], options)).toBe('')
  await writeFile(join(project, 'wrong.ts'), `${head}\n${SETTING}\nexport const a: string = client.lock()\n`)
  expect(await compile(project, ['wrong.ts'], options)).toContain('wrong.ts')
})
