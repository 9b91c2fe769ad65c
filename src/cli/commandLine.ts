import type { ExitCode } from '../service/exitCodes.js'
import { CommandError, type Failure } from '../terminal/failure.js'
import { createProgram } from '../terminal/program.js'
import type { ErrorStream, OutStream } from '../terminal/terminal.js'
import { addAllowance } from './commands/allowance.js'
import { addAttest } from './commands/attest.js'
import { addCancel } from './commands/cancel.js'
import { addClaim } from './commands/claim.js'
import { addHistory } from './commands/history.js'
import { addInstitution } from './commands/institution.js'
import { addKey } from './commands/key.js'
import { addLeave } from './commands/leave.js'
import { addMove } from './commands/move.js'
import { addOrder } from './commands/order.js'
import { addOrders } from './commands/orders.js'
import { addPolicy } from './commands/policy.js'
import { addPortfolio } from './commands/portfolio.js'
import { addStatement } from './commands/statement.js'
import { addStatus } from './commands/status.js'
import { addVerifyReceipt } from './commands/verifyReceipt.js'
import { addWallet } from './commands/wallet.js'
import { addWatch } from './commands/watch.js'
import type { AddCommand } from './context.js'
import type { Environment } from './input/connection.js'
import { addCommonOptions } from './input/options.js'

const COMMANDS: readonly AddCommand[] = [
  addOrder,
  addCancel,
  addPolicy,
  addPortfolio,
  addOrders,
  addHistory,
  addStatement,
  addKey,
  addWallet,
  addClaim,
  addAllowance,
  addInstitution,
  addMove,
  addLeave,
  addStatus,
  addWatch,
  addAttest,
  addVerifyReceipt,
]

const ABOUT = `
The server is --server or TRADING_SERVER_URL. Commands of a wallet take the node from --rpc or TRADING_RPC_URL, and the key from
the file of --key-file or TRADING_KEY_FILE, or from TRADING_PRIVATE_KEY. "<command> --help" lists the options of each.

Results go to standard output: aligned on a terminal, separated by tabs elsewhere. Progress and failures go to standard error.`

/** The reader of standard output closed it: an interruption without a reader to report it to. */
export class OutputClosed extends CommandError {
  constructor() {
    super('interrupted', 'the reader of the results closed the output')
  }
}

interface Dependencies {
  readonly env: Environment
  readonly out: OutStream
  readonly err: ErrorStream
  /** Aborts, with a CommandError `interrupted` as its reason, when the user ends the command. */
  readonly signal: AbortSignal
}

/**
 * Time for an interrupted command to report its own outcome; one that waits for a node does not react to the signal.
 */
const INTERRUPTION_GRACE_MS = 500

/** Runs the command that the arguments name; resolves with the exit code. Never rejects. */
export async function runCommandLine(args: readonly string[], dependencies: Dependencies): Promise<ExitCode> {
  const { env, out, err, signal } = dependencies
  const { root, terminal, endWith, run } = createProgram('confidential-trading', args, { out, err })
  addCommonOptions(root).addHelpText('after', ABOUT)
  for (const add of COMMANDS) add(root, { env, terminal, signal, endWith })
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(reject, INTERRUPTION_GRACE_MS, signal.reason))
  })
  return run(interrupted, (failure: Failure) => {
    const isUnheard = failure.code === 'interrupted' && signal.reason instanceof OutputClosed
    if (!isUnheard) terminal.failure(failure)
  })
}
