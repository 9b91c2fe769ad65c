import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { runCommandLine } from '../../../src/cli/commandLine.js'
import { bytes32Schema } from '../../../src/protocol/hex.js'
import { built } from '../../support/built.js'
import { type Program, startProgram } from '../../support/program.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import type { Desk } from './desk.js'
import type { Trader } from './trader.js'

type Variables = Record<string, string>

/** The environment of a person at the desk; the state goes into a directory of its own. */
export function personEnv({ sandbox }: Desk, { account }: Pick<Trader, 'account'>, state: string): Variables {
  return {
    TRADING_SERVER_URL: sandbox.info.url,
    TRADING_RPC_URL: sandbox.info.rpcUrl,
    TRADING_PRIVATE_KEY: account.privateKey,
    TRADING_ESCROW: sandbox.info.contracts.orderEscrow,
    TRADING_ENCLAVE_KEY: sandbox.secrets.intentPublicKey,
    XDG_STATE_HOME: state,
  }
}

export interface Outcome {
  readonly exit: number | null
  readonly out: string
  readonly err: string
}

/** The command line as it is shipped. */
export function startCli(args: readonly string[], env: Variables): Program {
  return startProgram(built('cli/main.js'), args, { env })
}

/** Runs a command as it is shipped. */
export async function runShippedCli(args: readonly string[], env: Variables): Promise<Outcome> {
  const program = startCli(args, env)
  const exit = await program.exit
  return { exit, out: program.out(), err: program.err() }
}

/** Runs a command in this process, which saves the start of a program. */
export async function runCli(args: readonly string[], env: Variables): Promise<Outcome> {
  let [out, err] = ['', '']
  const exit = await runCommandLine(args, {
    env,
    out: {
      write(text) {
        out += text
      },
    },
    err: {
      write(text) {
        err += text
      },
    },
    signal: new AbortController().signal,
  })
  return { exit, out, err }
}

/** One of the desk's employees at a terminal of their own. */
export function personAt(desk: () => Desk) {
  return async (index: 0 | 1 | 2) => {
    const state = await temporaryDirectory()
    const trader = desk().traders[index]
    const env = personEnv(desk(), trader, state)
    const kept = () => readdir(join(state, 'confidential-trading', 'orders')).catch(() => [])
    return { trader, env, kept, run: (...args: string[]) => runCli(args, env) }
  }
}

const orderSchema = z.looseObject({
  orderId: bytes32Schema,
  state: z.string(),
  notice: z.object({ code: z.string(), message: z.string() }).nullable(),
})
const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), requestId: z.string().nullable() }),
})

export const orderOf = (out: string) => orderSchema.parse(JSON.parse(out))
export const errorOf = (err: string) =>
  errorSchema.parse(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')).error
