import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonRpcProvider } from 'ethers'
import { DEFAULT_DELAYS } from '../chain/deploy.js'
import { interfaces } from '../chain/interfaces.js'
import { writeDeployment } from '../operate/settings.js'
import type { Hex } from '../protocol/hex.js'
import { healthOf } from '../server/trigger/ownEnclave.js'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'
import { startBrokerStandIn } from '../simulator/index.js'
import { CommandError } from '../terminal/failure.js'
import { castAccounts, type SandboxAccount } from './accounts.js'
import { startAnvil } from './anvil.js'
import { type AttestedSetup, foundAndProvision, policyOf, prepareAttested } from './attested.js'
import { assertDeskBuilt, DESK_FILE, startDesk, writeDesk } from './desk.js'
import { drawSecrets, type SandboxSecrets, writeEnvFiles } from './envFiles.js'
import { populate, sendAll } from './localChain.js'
import { claimPorts } from './ports.js'
import { assertBuilt, HEAP_BOUNDS, type ServerProcess, startProcess, untilOk } from './serverProcess.js'
import {
  BLOCK_TIME,
  DELAYS,
  EQUITIES,
  IDLE_BLOCK_TIME,
  type PrintStep,
  type SandboxFile,
  type SandboxOptions,
  STATE_SECONDS,
  stepsTo,
} from './settings.js'

const PRICE_SEED = 20_260_101
/** Wide enough for the longest name of a program. */
const PROGRAM_WIDTH = 11

/** A running platform: chain, broker stand-in, server, one institution with its cleared employees. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/** The dependencies of every start-up step. */
interface Stage {
  readonly cleanUp: AsyncDisposableStack
  readonly printStep: PrintStep
}

/**
 * Starts every part on this machine; does not publish a rulebook.
 * @throws CommandError `build-missing`, `port-taken`, `directory-foreign`; DirectoryLockedError
 */
export async function startSandbox(options: SandboxOptions) {
  const { directory, print } = options
  const { enclave: enclavePort = 0, desk, ...fixed } = options.ports
  assertBuilt()
  if (desk !== undefined) assertDeskBuilt()
  await using cleanUp = new AsyncDisposableStack()
  const stage = { cleanUp, printStep: stepsTo(print) }
  const ports = await claimPorts({
    ...{ ...fixed, ops: 0, relay: 0 },
    ...(options.enclave !== 'server' && { enclave: enclavePort }),
    ...(desk !== undefined && { desk }),
  })
  const lock = await takeDirectory(directory)
  cleanUp.defer(async () => lock.release())
  const drawn = drawSecrets()
  const { anvil, beginMining } = await startChain(options, ports.rpc, stage)
  const { provider } = anvil
  const accounts = castAccounts(anvil)
  const broker = await startBroker(options, ports.broker, drawn, stage)
  const isBorn = options.keys === 'born'
  const delays = { ...DELAYS, rotation: options.rotationDelay ?? DELAYS.rotation }
  const enclaveSigner = isBorn ? null : drawn.enclaveSigner
  const deployed = await populate(provider, accounts, { enclaveSigner, delays }, stage.printStep)
  const attested = isBorn ? await prepareAttested(directory, anvil.rpcUrl, cleanUp) : undefined
  const { owner, admin, employees, newcomer } = accounts
  const at = (port: number) => `http://127.0.0.1:${port}`
  const info: SandboxFile = {
    url: at(ports.server),
    opsUrl: at(ports.ops),
    relayUrl: at(ports.relay),
    rpcUrl: anvil.rpcUrl,
    brokerUrl: broker.url,
    enclaveUrl: ports.enclave === undefined ? undefined : at(ports.enclave),
    deskUrl: ports.desk === undefined ? undefined : `http://localhost:${ports.desk}`,
    chainId: anvil.chainId,
    contracts: { ...deployed.contracts, usdc: deployed.usdc },
    symbols: EQUITIES.map(({ symbol }) => symbol),
    accounts: { owner, admin, employees, newcomer },
  }
  printSettings(await writeEnvFiles(options, info, drawn, accounts, attested), stage)
  await writeFile(join(directory, 'sandbox.json'), `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 })
  writeDeployment(directory, { ...deployed, chainId: anvil.chainId, firstBlock: 0 })
  const enclave = await startEnclave(directory, info.enclaveUrl, attested, stage)
  // It is there when the enclave posts its evidence.
  const server = await startServer(options, info, stage)
  const platform = { info, secrets: drawn, provider, authority: deployed.authority, owner }
  const keys = attested && (await giveBirth(directory, attested, platform))
  const secrets = { ...drawn, ...keys?.publicKeys }
  if (keys) {
    stage.printStep('keys', 'born in the enclave, 2 of 3 holders gave their shares; the chain has its signer')
    await writeFile(join(directory, OWNER_KEY), `${attested?.holders[0]}\n`, { mode: 0o600 })
  }
  await writeDesk(directory, info, secrets.intentPublicKey)
  await beginMining()
  if (keys && !(await untilOk(`${info.url}/enclave-key`))) throw new Error('the server has no evidence')
  if (info.deskUrl !== undefined) {
    const { intentPublicKey: enclavePublicKey } = secrets
    const trust = attested && keys ? { ...attested, programs: keys.programs } : { enclavePublicKey }
    cleanUp.defer(await startDesk(info.deskUrl, info, trust))
    stage.printStep('desk', `the page to trade on, at ${info.deskUrl}`)
  }
  const owned = cleanUp.move()
  return {
    ...{ directory, info, accounts, secrets, provider },
    broker: broker.control,
    /** The current server process. */
    server: server.current,
    /** Restarts the server after it was stopped or killed. */
    restartServer: server.restart,
    /** The current enclave process, unless the server starts it. The sandbox restarts it if it is killed. */
    enclave: enclave.current,
    /** Stops the enclave for good. */
    retireEnclave: enclave.retire,
    /** What people know of an attested enclave, where its keys were born in it. */
    attested: attested && keys && { ...attested, programs: keys.programs, founding: keys.founding },
    /** Stops every part. */
    stop: () => owned.disposeAsync(),
  }
}

/** Founds the master key of an attested enclave, provisions it, and makes its signer the chain's. */
async function giveBirth(
  directory: string,
  setup: AttestedSetup,
  platform: {
    readonly info: SandboxFile
    readonly secrets: SandboxSecrets
    readonly provider: JsonRpcProvider
    readonly authority: Hex
    readonly owner: SandboxAccount
  },
) {
  const { info, secrets, provider, authority, owner } = platform
  const programs = await policyOf(directory)
  const domain = { chainId: info.chainId, escrow: info.contracts.orderEscrow }
  const url = info.enclaveUrl ?? ''
  const { founding, born } = await foundAndProvision({ setup, url, programs, domain, secrets })
  const { statement, measurement, config } = born
  const args = [statement.signer, measurement, config]
  const call = { to: authority, abi: interfaces.authority, method: 'rotateSigner', args }
  await sendAll(provider, owner, [call])
  const publicKeys = { intentPublicKey: statement.sealKey, enclaveSigner: statement.signer }
  return { programs, founding, publicKeys }
}

/** The chain has no rhythm until `beginMining`. */
async function startChain(options: SandboxOptions, port: number, { cleanUp, printStep }: Stage) {
  const { blockTime = BLOCK_TIME, states = Math.ceil(STATE_SECONDS / Math.min(blockTime, 1)) } = options
  const idleTime = options.blockTime ?? IDLE_BLOCK_TIME
  const anvil = await startAnvil({ port, states })
  cleanUp.defer(() => anvil.stop())
  const rhythm = `a block every ${blockTime} s, or ${idleTime} s without transactions`
  printStep('chain', `anvil, ${rhythm}, at ${anvil.rpcUrl}`)
  return { anvil, beginMining: () => anvil.mineEvery(blockTime, idleTime) }
}

async function startBroker(
  { walkIntervalMs }: SandboxOptions,
  port: number,
  secrets: SandboxSecrets,
  { cleanUp, printStep }: Stage,
) {
  const broker = await startBrokerStandIn({
    port,
    seed: PRICE_SEED,
    accounts: [secrets.enclaveBroker, secrets.serverBroker],
    symbols: EQUITIES,
    walkIntervalMs,
  })
  cleanUp.defer(() => broker.stop())
  printStep('broker', `a stand-in for Alpaca's API, at ${broker.url}`)
  return broker
}

function printSettings(differences: Readonly<Record<string, readonly string[]>>, { printStep }: Stage): void {
  printStep('settings', 'each has its default, but for these, whose defaults are in brackets:')
  const node = HEAP_BOUNDS.map((bound) => `${bound} [unset]`)
  const contracts = (['rotation', 'pause', 'leave'] as const).map(
    (name) => `${name}=${DELAYS[name]}s [${DEFAULT_DELAYS[name]}s]`,
  )
  for (const [program, lines] of Object.entries({ ...differences, contracts, node }))
    for (const line of lines) printStep('', `${program.padEnd(PROGRAM_WIDTH)}${line}`)
}

/** Undefined if the server starts the enclave. Stopping kills the enclave: its runs would otherwise outlive the sandbox. */
async function startEnclave(
  directory: string,
  url: string | undefined,
  attested: AttestedSetup | undefined,
  { cleanUp, printStep }: Stage,
) {
  if (url === undefined) return { current: () => undefined, retire: async () => undefined }
  const launch = () =>
    startProcess(attested ? 'attestedEnclave' : 'enclave', {
      ...{ directory, url, log: 'enclave.log' },
      ...(attested && { variables: { SANDBOX_DEVICE: attested.device } }),
    })
  let isStopping = false
  let enclave = await launch()
  const keepUp = async () => {
    for (;;) {
      await enclave.exited
      if (isStopping) return
      enclave = await launch()
    }
  }
  // The log states why one does not start again; callers that wait for the enclave fail.
  const keptUp = keepUp().catch(() => undefined)
  cleanUp.defer(async () => {
    isStopping = true
    await enclave.kill()
    await keptUp
    await enclave.kill()
  })
  printStep('enclave', `its own process, accepts jobs at ${url}`)
  return {
    current: (): ServerProcess | undefined => enclave,
    async retire() {
      isStopping = true
      await enclave.stop()
    },
  }
}

/** The server across restarts of its process. */
async function startServer(
  { directory, print }: SandboxOptions,
  { url, opsUrl, enclaveUrl }: SandboxFile,
  { cleanUp, printStep }: Stage,
) {
  if (enclaveUrl === undefined) {
    // The enclave of a server is designed to outlive it, but must not outlive the sandbox.
    cleanUp.defer(async () => {
      const enclave = await healthOf(join(directory, 'server', 'enclave', 'door.sock'))
      if (enclave !== undefined) process.kill(enclave.pid, 'SIGKILL')
    })
  }
  const launch = () => startProcess('server', { directory, url, narrate: (line) => print(`  │ ${line}`) })
  let server = await launch()
  cleanUp.defer(() => server.stop())
  printStep('server', `the real one, its own process, at ${url}`)
  printStep('', `operator endpoints: ${opsUrl}/readyz, ${opsUrl}/metrics`)
  return {
    current: () => server,
    async restart() {
      server = await launch()
    },
  }
}

/** The key of the first holder, to whom an attested enclave reports. */
const OWNER_KEY = 'holder.key'
/** Marks a directory as a sandbox's, whose content may be deleted. */
const MARKER = '.sandbox'
const CONTENTS = [
  ...['server', 'server.log', 'enclave', 'enclave.log', 'device'],
  ...['sandbox.json', 'deployment.json', '.env', '.env.enclave', DESK_FILE, OWNER_KEY],
]

/**
 * Creates the directory, or removes an earlier sandbox's files from it. Other sandboxes cannot take it until it is
 * released.
 * @throws CommandError `directory-foreign` if it holds files that no sandbox wrote, perhaps a real configuration;
 *   DirectoryLockedError if another sandbox runs in it
 */
export async function takeDirectory(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const present = await readdir(directory)
  if (present.length > 0 && !present.includes(MARKER)) {
    const text = `${directory} is not empty and does not belong to a sandbox; it was left unchanged: choose another --directory`
    throw new CommandError('directory-foreign', text)
  }
  await writeFile(
    join(directory, MARKER),
    'The files in this directory belong to `npm run sandbox`, which deletes them.\n',
  )
  const lock = lockDirectory(directory)
  for (const name of CONTENTS) await rm(join(directory, name), { recursive: true, force: true })
  return lock
}
