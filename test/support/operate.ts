import { PassThrough, Readable } from 'node:stream'
import type { verifyAttestation } from '../../src/attestation/index.js'
import type { StartingVerifier } from '../../src/attestation/starting.js'
import type { OperateProcess } from '../../src/operate/io.js'
import { runOperate } from '../../src/operate/program.js'

export interface Operated {
  readonly exit: number
  readonly out: string
  readonly err: string
}

interface OperateOptions {
  readonly env?: Record<string, string>
  /** Typed on a terminal, line by line; without it there is no terminal. */
  readonly answer?: string | readonly string[]
  /** Ends a command that goes on. */
  readonly ended?: AbortSignal
  /** Gets each text as it is written to standard output. */
  readonly onText?: (text: string) => void
  /** Judges the evidence of enclaves. */
  readonly verify?: StartingVerifier
  readonly verifyBorn?: typeof verifyAttestation
}

/** Runs a command for operators in this process, with none of its environment. */
export async function operate(
  args: readonly string[],
  { env = {}, answer, ended = AbortSignal.abort(), onText, verify, verifyBorn }: OperateOptions = {},
): Promise<Operated> {
  let [out, err] = ['', '']
  const input =
    answer === undefined ? new PassThrough() : Readable.from([answer].flat().map((line) => `${line}\n`))
  const process: OperateProcess = {
    env,
    input: Object.assign(input, { isTTY: answer !== undefined }),
    out: {
      write: (text, done) => {
        out += text
        onText?.(text)
        done?.()
      },
    },
    err: {
      write: (text) => {
        err += text
      },
    },
    untilEnded: () => ended,
  }
  const exit = await runOperate(args, process, verify, verifyBorn)
  return { exit, out, err }
}
