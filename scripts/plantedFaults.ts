// Plants each fault of test/plantedFaults.json and contracts/test/mutants.json in the product, one at a time, and runs the tests that should find it. Ends with 1 if a fault
// goes unnoticed. Changes files in place, and restores them: the files of the faults must have no uncommitted changes. With words as
// arguments, only the faults whose description has one of them.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { foundryProgram } from '../src/sandbox/anvil.js'

const faultsSchema = z.array(
  z.strictObject({
    /** What goes wrong. */
    fault: z.string(),
    file: z.string(),
    /** Occurs once in the file. */
    from: z.string(),
    to: z.string(),
    /** The npm script that brings a change of the file to what the tests run, where that is not the source. */
    through: z.enum(['contracts', 'build', 'build:web']).optional(),
    /** Vitest's filters of files, one of whose tests has to fail, or the folder of the contracts' invariants. */
    tests: z.array(z.string()).min(1),
  }),
)

const root = new URL('..', import.meta.url)
/**
 * Enough random cases to find the rarest of the faults. Nobody reads them, so forge need not look for a shorter way. Without the optimizer
 * a contract compiles in a third of the time. A poll that a fault defeats need not try for two minutes.
 */
const env = {
  ...process.env,
  ...{ LENGTH: '5', FOUNDRY_INVARIANT_RUNS: '256', FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT: '0' },
  FOUNDRY_OPTIMIZER: 'false',
  POLL_MS: '30000',
}
const run = (command: string, args: readonly string[]) =>
  spawnSync(command, args, { cwd: root, stdio: 'pipe', encoding: 'utf8', env })

const INVARIANTS = 'contracts/test'
function runInvariants() {
  // Where forge keeps the actions that found the fault before this one, to begin with them.
  rmSync(new URL('data/forge/failures', root), { recursive: true, force: true })
  return run(foundryProgram('forge'), ['test', '--fail-fast'])
}
const runTests = (tests: readonly string[], bail: string[] = []) =>
  tests.includes(INVARIANTS) ? runInvariants() : run('npx', ['vitest', 'run', ...bail, ...tests])

/** A change that does not parse, and a test file that is not there, end a run with 1 as well. */
function hasFailedTest({ status, stdout }: ReturnType<typeof run>): boolean {
  return status === 1 && /Tests[^\n]* failed|\[FAIL/.test(stdout)
}

function isFound({ file, from, to, through, tests }: z.infer<typeof faultsSchema>[number]): boolean {
  const path = new URL(file, root)
  const before = readFileSync(path, 'utf8')
  if (before.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
  const bring = () => {
    if (through !== undefined) execFileSync('npm', ['run', '-s', through], { cwd: root, stdio: 'pipe' })
  }
  const restore = () => {
    writeFileSync(path, before)
    bring()
  }
  const stop = () => {
    restore()
    process.exit(1)
  }
  process.once('SIGINT', stop)
  try {
    writeFileSync(
      path,
      before.replace(from, () => to),
    )
    bring()
    return hasFailedTest(runTests(tests, ['--bail=1']))
  } finally {
    restore()
    process.off('SIGINT', stop)
  }
}

const words = process.argv.slice(2)
const faults = ['test/plantedFaults.json', `${INVARIANTS}/mutants.json`]
  .flatMap((list) => faultsSchema.parse(JSON.parse(readFileSync(new URL(list, root), 'utf8'))))
  .filter(({ fault }) => words.length === 0 || words.some((word) => fault.includes(word)))
execFileSync('git', ['diff', '--quiet', 'HEAD', '--', ...faults.map(({ file }) => file)], { cwd: root })
const tests = new Set(faults.flatMap((each) => each.tests))
const invariants = tests.delete(INVARIANTS) ? [[INVARIANTS]] : []
for (const each of [...invariants, ...(tests.size > 0 ? [[...tests]] : [])]) {
  const sound = runTests(each)
  if (sound.status !== 0) throw new Error(`a test fails without a fault:\n${sound.stdout.slice(-3_000)}`)
}
let missed = 0
for (const fault of faults) {
  const found = isFound(fault)
  if (!found) missed++
  console.log(`${found ? 'found' : 'NOT FOUND'}: ${fault.fault}`)
}
console.log(`${faults.length - missed} of ${faults.length} planted faults found`)
process.exitCode = missed === 0 ? 0 : 1
