// Runs the contracts' invariants (contracts/test) on actions that are drawn anew each time. The seed is printed: with it in
// FOUNDRY_FUZZ_SEED, the same actions come again.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { foundryProgram } from '../src/sandbox/anvil.js'

const { FOUNDRY_FUZZ_SEED = `0x${randomBytes(8).toString('hex')}` } = process.env
console.log(`FOUNDRY_FUZZ_SEED=${FOUNDRY_FUZZ_SEED}`)
const { status } = spawnSync(foundryProgram('forge'), ['test'], {
  stdio: 'inherit',
  env: { ...process.env, FOUNDRY_FUZZ_SEED },
})
process.exitCode = status ?? 1
