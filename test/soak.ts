// npm run test:soak [-- storm --seed 7 --minutes 10 --servers 1]
// npm run test:soak -- fuzz [--exchanges 1000000], and SEED=7 before it
// npm run test:soak -- sweeps
// npm run test:soak -- many [--accounts 500 --orders 10000]
// npm run test:soak -- opening [--accounts 50 --orders 1000 --closed-seconds 120]
import { spawnSync } from 'node:child_process'
import { soakManyOrders, soakOpening } from './e2e/support/tradingSoaks.js'
import { soakSweeps } from './enclave/soak.js'
import { soakStorm } from './faults/soak.js'

type Print = (line: string) => void

/** The nightly test, with more exchanges. */
function soakByFuzzing([option, exchanges = '1000000']: string[]): boolean {
  if (option !== undefined && option !== '--exchanges') throw new Error(`no option is called ${option}`)
  const env = { ...process.env, EXCHANGES: exchanges }
  const args = ['vitest', 'run', '--project', 'nightly', 'test/fuzz/fuzz.test.ts']
  return spawnSync('npx', args, { env, stdio: 'inherit' }).status === 0
}

const STORMS = new Map<string, (args: string[], print: Print) => Promise<boolean> | boolean>([
  ['storm', soakStorm],
  ['fuzz', soakByFuzzing],
  ['sweeps', () => soakSweeps()],
  ['many', soakManyOrders],
  ['opening', soakOpening],
])

const options = process.argv.slice(2)
const name = options[0]?.startsWith('--') === false ? options.shift() : 'storm'
const storm = STORMS.get(name ?? 'storm')
if (storm === undefined) throw new Error(`no storm is called ${name}: ${[...STORMS.keys()].join(', ')}`)
const isClean = await storm(options, (line) => process.stdout.write(`${line}\n`))
process.exitCode = isClean ? 0 : 1
