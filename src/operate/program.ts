import { AWS_NITRO_ROOT } from '../attestation/nitro.js'
import { createStartingVerifier, type StartingVerifier } from '../attestation/starting.js'
import { dstackBelow, verifyAttestation } from '../attestation/tdx/index.js'
import { INTEL_SGX_ROOT } from '../attestation/tdx/verify.js'
import type { ExitCode } from '../service/exitCodes.js'
import { createProgram } from '../terminal/program.js'
import { addActions } from './actions.js'
import { addAttest } from './attest/commands.js'
import { addChainCommands } from './chainCommands.js'
import { type DeployOptions, deploy } from './deploy.js'
import { addDoctorCommands } from './doctor/commands.js'
import { addCommand, type CommonOptions, type OperateProcess } from './io.js'
import { makeKeys } from './keys.js'
import { addMeasure } from './measure/command.js'
import { addMove } from './move.js'
import { addRelay } from './relay.js'
import { addResolve } from './resolve.js'
import type { SecretKinds } from './secretFiles.js'
import { addTaken } from './taken.js'
import { addWatch } from './watch.js'

const ABOUT = `
Every command prints what it will do and asks, unless --yes is given. Keys come from variables or from files, never from
arguments: OWNER_PRIVATE_KEY, GUARDIAN_PRIVATE_KEY, DEPLOYER_PRIVATE_KEY and FUNDER_PRIVATE_KEY, or <NAME>_FILE.
RPC_URL names the node, deployment.json the contracts.`

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
  ATTESTATION_PLATFORM, ALPACA_ACCOUNT_ID, MASTER_KEY_HOLDERS, MASTER_KEY_THRESHOLD, RPC_WITNESS_URL
                             of an attested enclave, in place of ENCLAVE_SIGNER and INTENT_PUBKEY
  PORT, OPS_PORT, RELAY_PORT, HOST, ENCLAVE_LISTEN, CHAIN_DEPTH, BROKER_FEES, ALPACA_TRADING_URL, ALPACA_DATA_URL
                             go into the configurations where they are set
Files that exist are kept. A second run deploys nothing again.`

/**
 * Runs the command that the arguments name; resolves with the exit code. Never rejects.
 * @param verify judges an enclave that waits for its keys: trusts the roots of AWS and Intel, but in tests and the sandbox
 * @param verifyBorn judges one that has them
 */
export function runOperate(
  args: readonly string[],
  process: OperateProcess,
  verify: StartingVerifier = createStartingVerifier(AWS_NITRO_ROOT, undefined, dstackBelow(INTEL_SGX_ROOT)),
  verifyBorn = verifyAttestation,
): Promise<ExitCode> {
  const program = createProgram('operate', args, process)
  const { root } = program
  root.description('Commands for operators of the platform.').addHelpText('after', ABOUT)
  addCommand(root, 'keys', 'makes every secret that is missing, and prints the public values')
    .option('--operator', "the deployer's, the owner's and the guardian's too: for a test network")
    .option('--attested', 'none of the enclave: an attested one makes its own')
    .action((options: CommonOptions & SecretKinds) => makeKeys(process, options))
  addCommand(root, 'deploy', 'deploys the contracts, and writes .env, .env.enclave and desk.json')
    .option('--attested', 'names no signer yet: that of an attested enclave is born after the deployment')
    .addHelpText('after', DEPLOY_VARIABLES)
    .action((options: DeployOptions) => deploy(process, options))
  addChainCommands(root, process, verifyBorn)
  addActions(root, process)
  addAttest(root, process, verify)
  addMeasure(root, process)
  addMove(root, process, verifyBorn)
  addRelay(root, process)
  addResolve(root, process, verifyBorn)
  addTaken(root, process)
  addWatch(root, process)
  addDoctorCommands(program, process)
  return program.run()
}
