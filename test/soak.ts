// npm run test:soak [-- storm --seed 7 --minutes 10 --servers 1]
// npm run test:soak -- sweeps
// npm run test:soak -- many [--accounts 500 --orders 10000]
import { soakManyOrders } from './e2e/support/tradingSoaks.js'
import { soakSweeps } from './enclave/soak.js'
import { soakStorm } from './faults/soak.js'

const STORMS = new Map([
  ['storm', soakStorm],
  ['sweeps', () => soakSweeps()],
  ['many', soakManyOrders],
])

const options = process.argv.slice(2)
const name = options[0]?.startsWith('--') === false ? options.shift() : 'storm'
const storm = STORMS.get(name ?? 'storm')
if (storm === undefined) throw new Error(`no storm is called ${name}: ${[...STORMS.keys()].join(', ')}`)
const isClean = await storm(options, (line) => process.stdout.write(`${line}\n`))
process.exitCode = isClean ? 0 : 1
