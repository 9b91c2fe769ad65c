/**
 * The compiler's standard-JSON inputs: a contract's sources, those that it imports, and the settings. Explorers verify a deployed contract
 * by its input. As a program, with a folder as its argument, writes the input of each deployed contract there.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** The contracts that `operate deploy` deploys. */
export const CONTRACTS = [
  'Authority',
  'InstitutionRegistry',
  'OrderEscrow',
  'ConfidentialLedger',
  'EquityToken',
  'PlatformPool',
]
/** `EquityToken` creates the first and `ConfidentialLedger` the second, so their bytecode stands in that contract's. */
export const CREATED = ['EquityShares', 'CorporateActions']

/** How each contract is compiled. */
export const SETTINGS = {
  optimizer: { enabled: true, runs: 1_000 },
  // OpenZeppelin's transient re-entrancy guard needs Cancun, and current chains offer it.
  evmVersion: 'cancun',
  // Omits the hash of the sources, so that a comment does not change the bytecode.
  metadata: { bytecodeHash: 'none' },
}

const packages = createRequire(import.meta.url)

/** @param outputSelection what the compiler is to return, by source unit and contract */
export function standardJson(
  units: readonly string[],
  outputSelection: Record<string, Record<string, readonly string[]>>,
) {
  const sources: Record<string, { content: string }> = {}
  for (const unit of units) addSource(unit, sources)
  return { language: 'Solidity', sources, settings: { ...SETTINGS, outputSelection } }
}

/** Adds a source unit and all that it imports: our own files by their path from the root, others by their package. */
function addSource(unit: string, sources: Record<string, { content: string }>): void {
  if (sources[unit]) return
  const content = readFileSync(unit.startsWith('@') ? packages.resolve(unit) : join(ROOT, unit), 'utf8')
  sources[unit] = { content }
  for (const [, path = ''] of content.matchAll(/^import[^"';]*["']([^"']+)["'];/gm)) {
    addSource(path.startsWith('.') ? posix.join(posix.dirname(unit), path) : path, sources)
  }
}

/** The input by which an explorer verifies a contract. */
export function verificationInput(name: string) {
  const unit = `contracts/${name}.sol`
  return standardJson([unit], { [unit]: { [name]: ['abi', 'evm.bytecode', 'evm.deployedBytecode'] } })
}

function main(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of [...CONTRACTS, ...CREATED]) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(verificationInput(name)))
  }
}

const [, program = '', folder] = process.argv
if (basename(program) === 'standardJson.ts' && folder !== undefined) main(folder)
