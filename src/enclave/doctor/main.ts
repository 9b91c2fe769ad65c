// The enclave's part of `operate doctor`, `invariants`, `actions` and `resolve`: reads the enclave's configuration, and prints a report that holds no key.
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { addressSchema } from '../../protocol/address.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { type OrderReport, orderReportSchema } from '../../protocol/resolution.js'
import { requireNode } from '../../service/version.js'
import { type EnclaveConfig, keysOf, loadConfig } from '../config.js'
import { createPortfolioStore } from '../stores.js'
import { reportActions } from './actions.js'
import { chainOf, checkEnclave } from './checkup.js'

/** One JSON object on standard output. Exits 0 once it is written, 1 when it could not be made. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      actions: { type: 'boolean', default: false },
      account: { type: 'string' },
      money: { type: 'boolean', default: false },
      order: { type: 'string' },
    },
  })
  if (values.actions) {
    const report = await reportActions(loadConfig())
    process.stdout.write(`${JSON.stringify(z.encode(actionReportSchema, report))}\n`)
    return
  }
  if (values.order !== undefined) {
    const order = await reportOrder(loadConfig(), bytes32Schema.parse(values.order))
    process.stdout.write(`${JSON.stringify(z.encode(orderReportSchema, order))}\n`)
    return
  }
  const account = values.account === undefined ? undefined : addressSchema.parse(values.account)
  const report = await checkEnclave(() => loadConfig(), { account, money: values.money })
  process.stdout.write(`${JSON.stringify(z.encode(enclaveReportSchema, report))}\n`)
}

/**
 * An order as its account's portfolio has it, for the owner who is about to resolve it. It shows what is confidential, to those who
 * can read the enclave's configuration, and so the ledger.
 * @throws ChainUnavailableError, ChainAnswerError, RunFailure `ledger-unreadable`
 */
async function reportOrder(config: EnclaveConfig, orderId: Hex): Promise<OrderReport> {
  const { chain } = chainOf(config)
  const { head } = await chain.look()
  const { account, state } = await chain.escrow.orders(orderId, head.hash)
  const portfolios = createPortfolioStore(chain, keysOf(config))
  const { portfolio, hash } = await portfolios.load(account, head)
  return {
    ...{ chainId: chain.chainId, escrow: chain.escrow.address, orderId, account, state, portfolioHash: hash },
    nonce: portfolio?.nonce ?? 0,
    entry: portfolio?.openOrders[orderId] ?? null,
  }
}

requireNode()
main().catch(() => {
  process.stderr.write("the enclave could not be examined; is --account an address, --order an order's id?\n")
  process.exitCode = 1
})
