// The enclave's part of `operate doctor`, `invariants` and `resolve`: reads the enclave's configuration, and prints a report that holds no key.
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import { bytes32Schema } from '../../protocol/hex.js'
import { orderReportSchema } from '../../protocol/resolution.js'
import { requireNode } from '../../service/version.js'
import { loadConfig } from '../config.js'
import { checkEnclave } from './checkup.js'
import { reportOrder } from './order.js'

/** One JSON object on standard output. Exits 0 once it is written, 1 when it could not be made. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      account: { type: 'string' },
      money: { type: 'boolean', default: false },
      order: { type: 'string' },
    },
  })
  if (values.order !== undefined) {
    const order = await reportOrder(loadConfig(), bytes32Schema.parse(values.order))
    process.stdout.write(`${JSON.stringify(z.encode(orderReportSchema, order))}\n`)
    return
  }
  const account = values.account === undefined ? undefined : addressSchema.parse(values.account)
  const report = await checkEnclave(() => loadConfig(), { account, money: values.money })
  process.stdout.write(`${JSON.stringify(z.encode(enclaveReportSchema, report))}\n`)
}

requireNode()
main().catch(() => {
  process.stderr.write("the enclave could not be examined; is --account an address, --order an order's id?\n")
  process.exitCode = 1
})
