// The enclave's part of `operate doctor`, `invariants`, `actions` and `resolve`: reads the enclave's configuration, and prints a report that holds no key.
import { Command, CommanderError } from 'commander'
import * as z from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { addressSchema } from '../../protocol/address.js'
import { type EnclaveReport, enclaveReportSchema, fault } from '../../protocol/finding.js'
import { bytes32Schema, type Hex, hexToBytes } from '../../protocol/hex.js'
import { addressOfKey, publicKeyOf } from '../../protocol/publicKey.js'
import { orderReportSchema } from '../../protocol/resolution.js'
import { ConfigError } from '../../service/config.js'
import { EXIT } from '../../service/exitCodes.js'
import { requireNode } from '../../service/version.js'
import { type EnclaveConfig, keysOf, loadConfig } from '../config.js'
import { codeOf } from '../failures.js'
import { reportActions } from './actions.js'
import { checkEnclave, type KeysInUse } from './checkup.js'
import { reportOrder } from './order.js'

interface Options {
  readonly account?: Hex
  readonly actions?: true
  readonly money?: boolean
  readonly order?: Hex
}

/** One JSON object. */
async function reportOf({ account, actions, money = false, order }: Options): Promise<unknown> {
  if (actions) return z.encode(actionReportSchema, await reportActions(loadConfig()))
  if (order !== undefined) {
    const config = loadConfig()
    const { report } = await reportOrder(config, keysOf(config), order)
    return z.encode(orderReportSchema, report)
  }
  return z.encode(enclaveReportSchema, await checkFiles({ account, money }))
}

/** The doctor's report; faults of the configuration are findings. */
async function checkFiles(options: Parameters<typeof checkEnclave>[2]): Promise<EnclaveReport> {
  try {
    const config = loadConfig()
    return await checkEnclave(config, inUse(config), options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faults = error.faults.map(({ name, problem }) => fault('configuration', `${name}: ${problem}`))
    return { findings: faults, facts: null }
  }
}

function inUse(config: EnclaveConfig): KeysInUse {
  return {
    keys: keysOf(config),
    signer: addressOfKey(config.ENCLAVE_PRIVATE_KEY.reveal()),
    sealKey: publicKeyOf(hexToBytes(config.INTENT_PRIVATE_KEY.reveal())),
    names: { signer: 'the address of ENCLAVE_PRIVATE_KEY', master: 'LEDGER_MASTER_KEY' },
  }
}

/** It quotes no value: a person reads it beside what the enclave keeps secret. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError)
    return 'its configuration has faults, which dist/enclave/main.js --check names'
  if (error instanceof CommanderError || error instanceof z.core.$ZodError) {
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
