// npm run test:soak [-- storm --seed 7 --minutes 10 --servers 1]
// npm run test:soak -- sweeps
import { soakSweeps } from './enclave/soak.js'
import { soakStorm } from './faults/soak.js'

const STORMS = new Map([
  ['storm', soakStorm],
  ['sweeps', () => soakSweeps()],
])

const options = process.argv.slice(2)
const name = options[0]?.startsWith('--') === false ? options.shift() : 'storm'
const storm = STORMS.get(name ?? 'storm')
if (storm === undefined) throw new Error(`no storm is called ${name}: ${[...STORMS.keys()].join(', ')}`)
const isClean = await storm(options, (line) => process.stdout.write(`${line}\n`))
process.exitCode = isClean ? 0 : 1
