import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Command } from './command.js'
import { cancelCommand } from './commands/cancel.js'
import { claimCommand } from './commands/claim.js'
import { historyCommand } from './commands/history.js'
import { institutionCommand } from './commands/institution.js'
import { keyCommand } from './commands/key.js'
import { leaveCommand } from './commands/leave.js'
import { orderCommand } from './commands/order.js'
import { ordersCommand } from './commands/orders.js'
import { policyCommand } from './commands/policy.js'
import { portfolioCommand } from './commands/portfolio.js'
import { relayCommand } from './commands/relay.js'
import { statusCommand } from './commands/status.js'
import { takenCommand } from './commands/taken.js'
import { walletCommand } from './commands/wallet.js'
import { watchCommand } from './commands/watch.js'
import { EXIT, type ExitCode } from './exitCodes.js'
import { failureOf, Interruption, OutputClosed, UsageError } from './failure.js'
import { commandHelp, generalHelp } from './help.js'
import type { Environment } from './input/connection.js'
import { createTerminal, type ErrorStream, type OutStream, PROGRAM } from './terminal/terminal.js'

const COMMANDS: readonly Command[] = [
  orderCommand,
  cancelCommand,
  policyCommand,
  portfolioCommand,
  ordersCommand,
  historyCommand,
  keyCommand,
  walletCommand,
  claimCommand,
  institutionCommand,
  leaveCommand,
  statusCommand,
  relayCommand,
  takenCommand,
  watchCommand,
]

interface Dependencies {
  readonly env: Environment
  readonly out: OutStream
  readonly err: ErrorStream
  /** Aborts, with an Interruption as its reason, when the user ends the command. */
  readonly signal: AbortSignal
}

/**
 * Time for an interrupted command to report its own outcome; one that waits for a node does not react to the signal.
 */
const INTERRUPTION_GRACE_MS = 500

/** Runs the command that the arguments name; resolves with the exit code. Never rejects. */
export async function runCommandLine(args: readonly string[], dependencies: Dependencies): Promise<ExitCode> {
  const { env, out, err, signal } = dependencies
  const terminal = createTerminal({
    json: args.includes('--json'),
    quiet: args.includes('--quiet'),
    out,
    err,
  })
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(reject, INTERRUPTION_GRACE_MS, signal.reason))
  })
  try {
    const { name, rest } = splitName(args)
    const asked = informationOf(name, rest)
    if (asked === undefined)
      return await Promise.race([find(name).run(rest, { env, terminal, signal }), interrupted])
    out.write(asked)
    return name === undefined ? EXIT.usage : EXIT.done
  } catch (error) {
    const failure = failureOf(error)
    const isUnheard = error instanceof Interruption && signal.reason instanceof OutputClosed
    if (!isUnheard) terminal.failure(failure)
    return failure.exit
  }
}

/** `--json` and `--quiet` may stand before the command's name, too. */
function splitName(args: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  const index = args.findIndex((each) => each !== '--json' && each !== '--quiet')
  return index < 0 ? { name: undefined, rest: args } : { name: args[index], rest: args.toSpliced(index, 1) }
}

/** Help or version text, if the arguments ask for it. */
function informationOf(name: string | undefined, args: readonly string[]): string | undefined {
  if (name === undefined || name === '--help' || name === 'help') return generalHelp(COMMANDS)
  if (name === '--version') return `${readVersion()}\n`
  return args.includes('--help') ? commandHelp(find(name)) : undefined
}

function find(name: string | undefined): Command {
  const command = COMMANDS.find((each) => each.name === name)
  if (command) return command
  throw new UsageError(`unknown command; "${PROGRAM} --help" lists all commands`)
}

/** Works from src/ and from dist/. */
function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version
}
