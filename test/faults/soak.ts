import { soakOrders } from './orders/soak.js'
import { soakRelay } from './relaySoak.js'

// npm run test:soak [-- --seed 7 --authorizations 1100 --kills 56]
// npm run test:soak -- orders [--seed 7 --orders 500 --kills 30]

const print = (line: string) => process.stdout.write(`${line}\n`)
const [what, ...rest] = process.argv.slice(2)
const isClean =
  what === 'orders' ? await soakOrders(rest, print) : await soakRelay(process.argv.slice(2), print)
process.exitCode = isClean ? 0 : 1
