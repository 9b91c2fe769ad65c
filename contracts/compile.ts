/**
 * Compiles the contracts with the npm package `solc` (WebAssembly, no download) and writes their ABIs and bytecode as
 * TypeScript. With `--check` it writes no file, and exits 1 with the name of every stale file.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { Interface } from 'ethers'
import solc from 'solc'
import * as z from 'zod'
import { CONTRACTS, CREATED, ROOT, SETTINGS, standardJson } from './standardJson.js'

const CHAIN_OUT = join(ROOT, 'src/chain/generated')
const SANDBOX_OUT = join(ROOT, 'src/sandbox/generated')

/** EIP-170: a contract's code may have 24,576 bytes. */
const MAX_CODE_BYTES = 24_576

/** A node runs these in an `eth_call`; they are never deployed. */
const LENSES = ['WalletLens', 'PoolUsdcLens', 'EquitiesLens', 'SignatureLens']
const CALLED_BY_PAGES = ['OrderEscrow', 'InstitutionRegistry']
const SANDBOX_CONTRACT = 'TestUsdc'

/** As explorers name it, without the build of the npm package. */
const COMPILER = solc.version().replace('.Emscripten.clang', '')

const OUTPUTS = { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } }

const code = z.object({ object: z.string().regex(/^([0-9a-f]{2})*$/) })
const artifactSchema = z.object({
  abi: z.array(z.record(z.string(), z.unknown())),
  evm: z.object({ bytecode: code, deployedBytecode: code }),
})
const outputSchema = z.object({
  errors: z
    .array(
      z.object({
        severity: z.string(),
        formattedMessage: z.string(),
        sourceLocation: z.object({ file: z.string() }).optional(),
      }),
    )
    .default([]),
  // Without code after an error.
  contracts: z.unknown().optional(),
})
const contractsSchema = z.record(z.string(), z.record(z.string(), artifactSchema))

/** The compiler's output for one contract: its ABI, and its creation code as hex without `0x`. */
export interface Artifact {
  abi: Record<string, unknown>[]
  bytecode: string
}

/**
 * Compiles source units, e.g. `['contracts/OrderEscrow.sol']`, and returns the artifacts by contract name.
 * Throws with the compiler's messages on an error, or on a warning about our own sources (we do not fix a
 * package's warnings), and on code larger than EIP-170 allows.
 */
export function compile(units: string[]): Map<string, Artifact> {
  const input = JSON.stringify(standardJson(units, OUTPUTS))
  const output = outputSchema.parse(JSON.parse(solc.compile(input)))
  const faults = output.errors.filter(
    ({ severity, sourceLocation }) =>
      severity === 'error' || !sourceLocation || sourceLocation.file.startsWith('contracts/'),
  )
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'))
  const artifacts = new Map<string, Artifact>()
  for (const contracts of Object.values(contractsSchema.parse(output.contracts))) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      const size = evm.deployedBytecode.object.length / 2
      if (size > MAX_CODE_BYTES)
        throw new Error(`${name}: ${size} bytes of code, at most ${MAX_CODE_BYTES} are allowed`)
      artifacts.set(name, { abi, bytecode: evm.bytecode.object })
    }
  }
  return artifacts
}

const HEADER = '// Generated from contracts/ by `npm run contracts`. Do not edit.\n'
const camel = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
/** In the words of Solidity, a sixth of the compiler's JSON: pages have it in their bundles. */
const abiSource = (name: string, artifact: Artifact): string =>
  constant(`${camel(name)}Abi`, linesOf(artifact))
/** The errors once more, for pages, which name the few functions that they call. */
const errorsSource = (name: string, artifact: Artifact): string =>
  constant(
    `${camel(name)}Errors`,
    linesOf(artifact).filter((line) => line.startsWith('error ')),
  )
const linesOf = ({ abi }: Artifact) => new Interface(JSON.stringify(abi)).format()
const constant = (name: string, lines: readonly string[]): string =>
  `export const ${name} = ${JSON.stringify(lines, null, 2)} as const\n`
const bytecodeSource = (name: string, { bytecode }: Artifact): string =>
  `export const ${camel(name)}Bytecode = '0x${bytecode}'\n`

/** The generated files: absolute path to content. */
function generate(): Map<string, string> {
  const units = [...CONTRACTS, ...CREATED].map((name) => `contracts/${name}.sol`)
  const lenses = LENSES.map((name) => `contracts/lens/${name}.sol`)
  const artifacts = compile([...units, ...lenses, `contracts/sandbox/${SANDBOX_CONTRACT}.sol`])
  const artifact = (name: string): Artifact => {
    const found = artifacts.get(name)
    if (!found) throw new Error(`${name}: no such contract in contracts/`)
    return found
  }
  const files = new Map<string, string>()
  for (const name of [...CONTRACTS, ...CREATED]) {
    const errors = CALLED_BY_PAGES.includes(name) ? errorsSource(name, artifact(name)) : ''
    files.set(join(CHAIN_OUT, `${camel(name)}Abi.ts`), HEADER + abiSource(name, artifact(name)) + errors)
  }
  files.set(
    join(CHAIN_OUT, 'bytecode.ts'),
    HEADER + CONTRACTS.map((name) => bytecodeSource(name, artifact(name))).join(''),
  )
  files.set(
    join(CHAIN_OUT, 'compiler.ts'),
    `${HEADER}export const compiler = ${JSON.stringify({ version: COMPILER, settings: SETTINGS }, null, 2)} as const\n`,
  )
  files.set(
    join(CHAIN_OUT, 'lenses.ts'),
    HEADER + LENSES.map((name) => bytecodeSource(name, artifact(name))).join(''),
  )
  const usdc = artifact(SANDBOX_CONTRACT)
  files.set(
    join(SANDBOX_OUT, `${camel(SANDBOX_CONTRACT)}.ts`),
    HEADER + abiSource(SANDBOX_CONTRACT, usdc) + bytecodeSource(SANDBOX_CONTRACT, usdc),
  )
  return files
}

function existing(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name))
  } catch {
    return []
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function write(files: Map<string, string>, orphans: string[]): void {
  for (const orphan of orphans) rmSync(orphan)
  for (const [file, content] of files) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

function main(check: boolean): void {
  const files = generate()
  const orphans = [...existing(CHAIN_OUT), ...existing(SANDBOX_OUT)].filter((file) => !files.has(file))
  const stale = [...files].filter(([file, content]) => read(file) !== content).map(([file]) => file)
  const names = [...stale, ...orphans].map((file) => `  ${relative(ROOT, file)}`).join('\n')
  if (names === '') {
    console.log(`${files.size} generated files are up to date`)
  } else if (check) {
    console.error(`stale, run \`npm run contracts\`:\n${names}`)
    process.exitCode = 1
  } else {
    write(files, orphans)
    console.log(`wrote:\n${names}`)
  }
}

if (process.argv[1] && basename(process.argv[1]) === 'compile.ts') main(process.argv.includes('--check'))
