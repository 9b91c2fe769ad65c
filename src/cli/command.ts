import type { ExitCode } from './exitCodes.js'
import type { Environment } from './input/connection.js'
import type { Terminal } from './terminal/terminal.js'

export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** Aborts when the person ends the command. */
  readonly signal: AbortSignal
}

/** One word of the command line. */
export interface Command {
  readonly name: string
  /** Its line in the list of commands. */
  readonly summary: string
  /** What `--help` prints, without the common options. */
  readonly help: string
  /** Whether it needs the options of a wallet. */
  readonly usesWallet: boolean
  /** @throws what `failureOf` explains */
  run(args: readonly string[], context: CommandContext): Promise<ExitCode>
}
