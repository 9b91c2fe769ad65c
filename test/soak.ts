// npm run test:soak [-- relay --seed 7 --authorizations 1100 --kills 56]
// npm run test:soak -- orders [--seed 7 --orders 500 --kills 30]
// npm run test:soak -- cluster [--seed 7 --minutes 10]
// npm run test:soak -- fuzz [--seed 7 --requests 1000000]
// npm run test:soak -- sweeps
// npm run test:soak -- many [--accounts 500 --orders 10000]
import { soakManyOrders } from './e2e/support/tradingSoaks.js'
import { soakSweeps } from './enclave/soak.js'
import { soakCluster, soakOrders, soakRelay } from './faults/soak.js'
import { soakByFuzzing } from './fuzz/soak.js'

const STORMS = new Map([
  ['relay', soakRelay],
  ['orders', soakOrders],
  ['cluster', soakCluster],
  ['fuzz', soakByFuzzing],
  ['sweeps', () => soakSweeps()],
  ['many', soakManyOrders],
])

const options = process.argv.slice(2)
const name = options[0]?.startsWith('--') === false ? options.shift() : 'relay'
const storm = STORMS.get(name ?? 'relay')
if (storm === undefined) throw new Error(`no storm is called ${name}: ${[...STORMS.keys()].join(', ')}`)
const isClean = await storm(options, (line) => process.stdout.write(`${line}\n`))
process.exitCode = isClean ? 0 : 1
