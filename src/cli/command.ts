import type { ExitCode } from './exitCodes.js'
import type { Environment } from './input/connection.js'
import type { Terminal } from './terminal/terminal.js'

export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** Aborts when the user ends the command. */
  readonly signal: AbortSignal
}

/** One subcommand. */
export interface Command {
  readonly name: string
  /** The command's line in the list of commands. */
  readonly summary: string
  /** The text of `--help` without the common options. */
  readonly help: string
  /** Whether the command takes the wallet options. */
  readonly usesWallet: boolean
  /** @throws the errors that `failureOf` maps to exit codes */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>
}
