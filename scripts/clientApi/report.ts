// What each entry of the client package declares, and every declaration that this names, without comments. What the main entry's report
// has stands there alone.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Where the reports are. */
export const API = 'packages/client/api'
const BUILT = 'packages/client/dist'
const MAIN = 'client/index.d.ts'
const ENTRIES = {
  'client.d.ts': MAIN,
  'store.d.ts': 'client/store/index.d.ts',
  'admin.d.ts': 'client/admin.d.ts',
  'history.d.ts': 'client/history.d.ts',
  'operator.d.ts': 'client/operator.d.ts',
  'attestation.d.ts': 'attestation/index.d.ts',
  'attestation-tdx.d.ts': 'attestation/tdx/index.d.ts',
  'receipt.d.ts': 'client/receipt/index.d.ts',
}

/** The text of each report, by its file, from what `npm run build:client` has emitted. */
export function clientReports(): Map<string, string> {
  const main = declarationsOf(MAIN)
  return new Map(
    Object.entries(ENTRIES).map(([file, entry]) => [
      join(API, file),
      entry === MAIN ? reportOf(MAIN, main) : reportOf(entry, declarationsOf(entry), main),
    ]),
  )
}

/** The top-level statements of an emitted file: the compiler begins each in the first column, and ends it there or by a semicolon. */
function statementsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8').replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
  return text.split(/\n(?=[a-z])/).map((statement) => statement.trim())
}

/** The names that a statement declares or brings in. */
function namesOf(statement: string): string[] {
  const [, braces] = /^(?:import|export) (?:type )?\{([\s\S]*?)\}/.exec(statement) ?? []
  if (braces !== undefined) return braces.split(',').map((each) => each.trim().split(' ').at(-1) ?? '')
  const [, name = ''] =
    /^(?:export )?(?:declare )?(?:abstract )?(?:const|function\*?|class|interface|type) (\w+)/.exec(
      statement,
    ) ??
    /^import \* as (\w+)/.exec(statement) ??
    []
  return [name]
}

/** Where a statement imports from, if that is a file of the package. */
function sourceOf(path: string, statement: string): string | null {
  const [, from] = /from '(\.[^']+)\.js';$/.exec(statement) ?? []
  return from === undefined ? null : join(dirname(path), `${from}.d.ts`)
}

/** Statements, by file. */
type Declarations = Map<string, Set<string>>

/** What an entry exports, and everything that this leads to. */
function declarationsOf(entry: string): Declarations {
  const kept: Declarations = new Map()
  const files = new Map<string, { statement: string; names: string[] }[]>()
  function parsed(path: string) {
    const known = files.get(path)
    if (known !== undefined) return known
    const found = statementsOf(path).map((statement) => ({ statement, names: namesOf(statement) }))
    files.set(path, found)
    return found
  }
  function keep(path: string, name: string): void {
    for (const { statement, names } of parsed(path)) {
      if (!names.includes(name)) continue
      const source = sourceOf(path, statement)
      if (source !== null) {
        keep(source, name)
        continue
      }
      const own = kept.get(path) ?? new Set()
      if (own.has(statement)) continue
      kept.set(path, own.add(statement))
      for (const [word] of statement.matchAll(/\w+/g)) keep(path, word)
      for (const [, from, word = ''] of statement.matchAll(/import\("(\.[^"]+)\.js"\)\.(\w+)/g))
        keep(join(dirname(path), `${from}.d.ts`), word)
    }
  }
  const path = join(BUILT, entry)
  for (const statement of statementsOf(path))
    for (const name of namesOf(statement)) if (name) keep(path, name)
  return kept
}

/** @param elsewhere what another report has */
function reportOf(entry: string, kept: Declarations, elsewhere: Declarations = new Map()): string {
  const parts = [...kept].flatMap(([file, all]) => {
    const own = [...all].filter((statement) => !elsewhere.get(file)?.has(statement)).sort()
    return own.length === 0 ? [] : [`// ${relative(BUILT, file)}\n${own.join('\n')}\n`]
  })
  const beside = elsewhere.size > 0 ? ' beside those of client.d.ts' : ''
  const head = `// Written by \`npm run client-api\` from ${entry}: the public types, and all that they name${beside}.\n`
  const exports = statementsOf(join(BUILT, entry)).filter((statement) => statement.startsWith('export '))
  const exported = exports.flatMap(namesOf).filter(Boolean).sort()
  return `${head}// Exports:\n${exported.map((name) => `//   ${name}\n`).join('')}\n${parts.sort().join('\n')}`
}
