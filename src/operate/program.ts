import { Command, CommanderError } from 'commander'
import { readVersion } from '../service/version.js'
import { addChainCommands } from './chainCommands.js'
import { deploy } from './deploy.js'
import { addDoctorCommands } from './doctor/commands.js'
import { EXIT, type ExitCode, failureOf, usage } from './errors.js'
import type { CommonOptions, OperateProcess } from './io.js'
import { makeKeys } from './keys.js'
import { addResolve } from './resolve.js'

const HELP_WIDTH = 110

const EXIT_CODES = `
Every command prints what it will do and asks, unless --yes is given. Keys come from variables or from files, never from
arguments: OWNER_PRIVATE_KEY, GUARDIAN_PRIVATE_KEY, DEPLOYER_PRIVATE_KEY and FUNDER_PRIVATE_KEY, or <NAME>_FILE.
RPC_URL names the node, deployment.json the contracts.

Exit codes: 0 done, or nothing to do; 1 refused, failed, or a fault found; 2 wrong arguments or settings; 3 declined at the
question; 4 sent, but not mined yet; 5 no node answers.`

const DEPLOY_VARIABLES = `
Its settings are variables. Those that "keys" printed are taken from secrets/public.env:
  RPC_URL, ENCLAVE_RPC_URL   the server's node, and the enclave's, of another operator
  CHAIN_ID, CHAIN_NAME       the chain, and its name on the page
  USDC_ADDRESS               USDC on this chain
  BROKER_FUNDING_ADDRESS     the only address that the treasury can go to; never to be changed
  OWNER_ADDRESS, GUARDIAN_ADDRESS, ENCLAVE_SIGNER, INTENT_PUBKEY
  DEPLOYER_PRIVATE_KEY_FILE  the key of the account that pays the gas
  ROTATION_DELAY, MAX_PAUSE, LEAVE_DELAY   48h, 72h and 168h; never to be changed
  FRONTEND_ORIGIN, SERVER_URL   where the page is opened, and where it reaches the server
  PORT, OPS_PORT, RELAY_PORT, HOST, ENCLAVE_LISTEN, CHAIN_DEPTH, BROKER_FEES, ALPACA_TRADING_URL, ALPACA_DATA_URL
                             go into the configurations where they are set
Files that exist are kept. A second run deploys nothing again.`

/** Runs the command that the arguments name; resolves with the exit code. Never rejects. */
export async function runOperate(args: readonly string[], process: OperateProcess): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done
  const done = (code: ExitCode) => {
    exit = code
  }
  const json = args.includes('--json')
  const program = new Command('operate')
    .description('Commands for operators of the platform.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => process.out.write(text),
      writeErr: (text) => !json && process.err.write(text),
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .showHelpAfterError('(--help lists what the command takes)')
  const add = Object.assign(
    (name: string, summary: string, group = program) =>
      group
        .command(name)
        .description(summary)
        .option('--directory <path>', 'holds secrets/, deployment.json and the configurations', '.')
        .option('--json', 'the result, or the failure, as one JSON object')
        .option('--yes', 'does it without a question'),
    { group: (name: string, summary: string) => program.command(name).description(summary) },
  )
  add('keys', 'makes every secret that is missing, and prints the public values')
    .option('--operator', "the deployer's, the owner's and the guardian's too: for a test network")
    .action(async (options: CommonOptions & { operator?: true }) => done(await makeKeys(process, options)))
  add('deploy', 'deploys the contracts, and writes .env, .env.enclave and desk.json')
    .addHelpText('after', DEPLOY_VARIABLES)
    .action(async (options: CommonOptions) => done(await deploy(process, options)))
  addChainCommands(add, process, done)
  addResolve(add, process, done)
  addDoctorCommands(program, process, done)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exit
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, json, process)
    if (error.exitCode === 0) return EXIT.done
    // commander has written its message already, but for programs.
    if (json) report(usage(error.message, 'see --help'), json, process)
    return EXIT.usage
  }
}

function report(error: unknown, json: boolean, { err }: OperateProcess): ExitCode {
  const { exit, code, message, remedy } = failureOf(error)
  err.write(
    json
      ? `${JSON.stringify({ error: { code, message, remedy } })}\n`
      : `operate: ${message} (${code})\n  ${remedy}\n`,
  )
  return exit
}
