// npm run test:soak [-- --seed 7 --authorizations 1100 --kills 56]
// npm run test:soak -- orders [--seed 7 --orders 500 --kills 30]
// npm run test:soak -- cluster [--seed 7 --minutes 10]
// npm run test:soak -- fuzz [--seed 7 --requests 1000000]
// npm run test:soak -- sweeps
// npm run test:soak -- many [--accounts 500 --orders 10000]
// npm run test:soak -- opening [--accounts 50 --orders 1000 --closed-seconds 120]
import { soakManyOrders, soakOpening } from './e2e/support/tradingSoaks.js'
import { soakSweeps } from './enclave/soak.js'
import { soakCluster, soakOrders, soakRelay } from './faults/soak.js'
import { soakByFuzzing } from './fuzz/soak.js'

const print = (line: string) => process.stdout.write(`${line}\n`)

function soak([form, ...rest]: readonly string[]): Promise<boolean> {
  if (form === 'orders') return soakOrders(rest, print)
  if (form === 'cluster') return soakCluster(rest, print)
  if (form === 'fuzz') return soakByFuzzing(rest, print)
  if (form === 'sweeps') return soakSweeps()
  if (form === 'many') return soakManyOrders(rest, print)
  if (form === 'opening') return soakOpening(rest, print)
  return soakRelay(process.argv.slice(2), print)
}

const isClean = await soak(process.argv.slice(2))
process.exitCode = isClean ? 0 : 1
