// The enclave's part of `operate doctor`, `invariants`, `actions` and `resolve`: reads the enclave's configuration, and prints a report that holds no key.
import { Command, CommanderError } from 'commander'
import { z } from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { addressSchema } from '../../protocol/address.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { type OrderReport, orderReportSchema } from '../../protocol/resolution.js'
import { ConfigError } from '../../service/config.js'
import { EXIT } from '../../service/exitCodes.js'
import { requireNode } from '../../service/version.js'
import { type EnclaveConfig, keysOf, loadConfig } from '../config.js'
import { codeOf } from '../failures.js'
import { createPortfolioStore } from '../stores.js'
import { reportActions } from './actions.js'
import { chainOf, checkEnclave } from './checkup.js'

interface Options {
  readonly account?: Hex
  readonly actions?: true
  readonly money?: boolean
  readonly order?: Hex
}

/** One JSON object. */
async function reportOf({ account, actions, money = false, order }: Options): Promise<unknown> {
  if (actions) return z.encode(actionReportSchema, await reportActions(loadConfig()))
  if (order !== undefined) return z.encode(orderReportSchema, await reportOrder(loadConfig(), order))
  return z.encode(enclaveReportSchema, await checkEnclave(() => loadConfig(), { account, money }))
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

/** It quotes no value: a person reads it beside what the enclave keeps secret. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError)
    return 'its configuration has faults, which dist/enclave/main.js --check names'
  if (error instanceof CommanderError || error instanceof z.ZodError) {
    return "is --account an address, --order an order's id?"
  }
  return codeOf(error)
}

requireNode()
await new Command('doctor/main.js')
  .option('--account <address>', 'an account whose portfolio is read too', (text) =>
    addressSchema.parse(text),
  )
  .option('--actions', 'reports corporate actions instead')
  .option('--money', 'adds the sums of all portfolios')
  .option('--order <orderId>', 'reports one order instead', (text) => bytes32Schema.parse(text))
  .exitOverride()
  .configureOutput({ outputError: () => undefined })
  .action(async (options: Options) => {
    process.stdout.write(`${JSON.stringify(await reportOf(options))}\n`)
  })
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError && error.exitCode === 0) return
    process.stderr.write(`the enclave could not be examined: ${reasonOf(error)}\n`)
    process.exitCode = EXIT.failed
  })
