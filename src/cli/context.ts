import type { Command } from 'commander'
import type { ExitCode } from '../service/exitCodes.js'
import type { Terminal } from '../terminal/terminal.js'
import type { Environment } from './input/connection.js'

/** What each command gets. */
export interface CommandContext {
  readonly env: Environment
  readonly terminal: Terminal
  /** Aborts when the user ends the command. */
  readonly signal: AbortSignal
  /** The exit code of a command that did what it could. */
  endWith(exit: ExitCode): void
}

/** Adds a command to the program. */
export type AddCommand = (root: Command, context: CommandContext) => void
