import { Command, CommanderError } from 'commander'
import { EXIT, EXIT_CODES_HELP, type ExitCode } from '../service/exitCodes.js'
import { readVersion } from '../service/version.js'
import { type Failure, failureOf } from './failure.js'
import { createTerminal, type ErrorStream, type OutStream } from './terminal.js'

const HELP_WIDTH = 118

/** A program whose commands a person or a script calls. */
export type Program = ReturnType<typeof createProgram>

export function createProgram(
  name: string,
  args: readonly string[],
  { out, err }: { readonly out: OutStream; readonly err: ErrorStream },
) {
  const json = args.includes('--json')
  const terminal = createTerminal({ name, json, quiet: args.includes('--quiet'), out, err })
  const root = new Command(name)
    .version(readVersion(), '--version')
    .helpOption('--help')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => !json && err.write(text),
      // `run` reports it.
      outputError: () => undefined,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .addHelpText('afterAll', EXIT_CODES_HELP)
  let exit: ExitCode = EXIT.done
  return {
    /** The command that all others are added to. */
    root,
    terminal,
    /** The exit code of the command under way, unless it fails. */
    endWith(code: ExitCode): void {
      exit = code
    },
    /**
     * Runs the command that the arguments name. Never rejects.
     * @param until rejects when the command has to be given up
     */
    async run(
      until?: Promise<never>,
      report: (failure: Failure, error: unknown) => void = terminal.failure,
    ): Promise<ExitCode> {
      try {
        const ended = root.parseAsync([...args], { from: 'user' })
        await (until === undefined ? ended : Promise.race([ended, until]))
        return exit
      } catch (error) {
        if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
        const failure = failureOf(error)
        report(failure, error)
        return failure.exit
      }
    },
  }
}
