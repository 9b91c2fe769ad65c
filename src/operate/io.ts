import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import type { NarratorOutput } from '../server/narrator/lines.js'
import type { Environment } from '../service/config.js'
import { CommandError } from '../terminal/failure.js'

/** The process around the commands. */
export interface OperateProcess {
  readonly env: Environment
  /** Standard input; a question is asked only on a terminal. */
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly out: Omit<NarratorOutput, 'write'> & { write(text: string, done?: () => void): unknown }
  readonly err: { write(text: string): unknown }
  /** Aborts when the user ends a command, or nothing reads its output any more. Until a command asks for it, a signal ends the process. */
  untilEnded(): AbortSignal
}

/** The options of every command. */
export interface CommonOptions {
  /** Holds secrets, deployment.json, both configurations and desk.json. */
  readonly directory: string
  readonly json?: boolean
  readonly yes?: boolean
}

/** Adds a command with the common options to the program, or to a group of commands. */
export function addCommand(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .description(summary)
    .option('--directory <path>', 'holds secrets/, deployment.json and the configurations', '.')
    .option('--json', 'the result, or the failure, as one JSON object')
    .option('--yes', 'does it without a question')
}

/** How a command speaks: results on standard output, all else on standard error. */
export type Speech = ReturnType<typeof createSpeech>

export function createSpeech(
  process: OperateProcess,
  { json = false, yes = false }: Pick<CommonOptions, 'json' | 'yes'>,
) {
  const { input, out, err } = process
  let answers: AsyncIterator<string> | undefined

  /** @throws CommandError `confirmation-needed` where there is no terminal to ask on */
  async function ask(question: string): Promise<boolean> {
    if (yes) return true
    if (input.isTTY !== true) throw new CommandError('confirmation-needed', 'there is no terminal to ask on')
    err.write(`${question} [y/N] `)
    // One reader for all questions: what it has read of the next answer is lost with it.
    answers ??= createInterface({ input })[Symbol.asyncIterator]()
    const { value, done } = await answers.next()
    return done !== true && /^y(es)?$/i.test(value.trim())
  }

  return {
    /** A step that the command is about to take, or takes. */
    say(line: string): void {
      err.write(`${line}\n`)
    },
    /** The result: lines for people, one JSON object for programs. */
    result(lines: readonly string[], object: Readonly<Record<string, unknown>>): void {
      out.write(json ? `${JSON.stringify(object)}\n` : lines.map((line) => `${line}\n`).join(''))
    },
    /** Asks, unless `--yes` was given. */
    ask,
    /** Asks whether to go on. @throws CommandError `declined` */
    async confirm(question: string): Promise<void> {
      if (!(await ask(question))) throw new CommandError('declined', 'nothing was done')
    },
  }
}
