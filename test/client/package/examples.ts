// The examples of the client's public functions, and of docs/client.md.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as admin from '../../../src/client/admin.js'
import * as history from '../../../src/client/history.js'
import * as library from '../../../src/client/index.js'
import * as operator from '../../../src/client/operator.js'

/** The names that the examples use. */
const SETTING = `
declare const client: Client
declare const [account, orgId, orderId]: [Hex, Hex, Hex]
declare const order: SubmittableOrder & SignedOrder
declare const policy: Policy
declare const store: HistoryStore
declare const pins: { readonly enclavePublicKey: Hex; readonly escrow: Hex }
declare const past: Past
declare const [text, bytes, deadline]: [string, Uint8Array, number]
declare const entries: readonly HistoryEntry[]
`
const TYPES = [
  ...['Client', 'Eip1193Provider', 'Hex', 'HistoryStore', 'Past', 'Policy'],
  ...['SignedOrder', 'SubmittableOrder'],
]
const SOURCES = ['src/client', 'src/protocol']
/** The server that examples name. */
export const EXAMPLE_SERVER = 'https://trading.example'

/** Each `@example` with the function that it stands before. */
export async function sourceExamples(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const folder of SOURCES) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const source = await readFile(join(folder, name), 'utf8')
      const pattern =
        /@example (.+?)(?: \*\/)?\n(?:\s+\*.*\n)*\s*(?:export )?(?:async )?(?:function ?\*? ?)?(\w+)/g
      for (const [, code = '', subject = ''] of source.matchAll(pattern)) found.set(subject, code)
    }
  }
  return found
}

/** The `ts` blocks of docs/client.md. */
export async function pageExamples(): Promise<string[]> {
  const page = await readFile('docs/client.md', 'utf8')
  return [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
}

/** Everything that an example may use, as the head of a file. */
export function exampleHead(packageName: string): string {
  const imported = [
    [[...Object.keys(library), ...TYPES.map((type) => `type ${type}`)], ''],
    [Object.keys(admin), '/admin'],
    [[...Object.keys(history), 'type HistoryEntry', 'type OrderList'], '/history'],
    [Object.keys(operator), '/operator'],
  ] as const
  const lines = imported.map(
    ([names, entry]) => `import { ${names.join(', ')} } from '${packageName}${entry}'`,
  )
  const window = 'declare global { interface Window { ethereum: Eip1193Provider } }'
  return [...lines, window, SETTING].join('\n')
}

/** Writes each example of the sources as a function into `examples.ts`, and each of the page as `page0.ts` and so on. */
export async function writeExamples(
  { project, name }: { readonly project: string; readonly name: string },
  serverUrl = EXAMPLE_SERVER,
): Promise<string[]> {
  const atServer = (code: string) => code.replaceAll(EXAMPLE_SERVER, serverUrl)
  const bodies = [...(await sourceExamples())].map(
    ([subject, code]) => `export async function _${subject}() {\n${atServer(code)}\n}`,
  )
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(project, 'examples.ts'), [exampleHead(name), ...bodies].join('\n'))
  const pages = await Promise.all(
    (await pageExamples()).map(async (block, index) => {
      await writeFile(join(project, `page${index}.ts`), atServer(block))
      return `page${index}.ts`
    }),
  )
  return ['examples.ts', ...pages]
}
