import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { interfaces } from '../chain/interfaces.js'
import { writeDeployment } from '../operate/settings.js'
import { type DirectoryLock, lockDirectory } from '../service/directoryLock.js'
import { startBrokerStandIn } from '../simulator/index.js'
import { CommandError } from '../terminal/failure.js'
import { castAccounts } from './accounts.js'
import { startAnvil } from './anvil.js'
import { giveBirth, prepareAttested } from './attested.js'
import { startDesk, writeDesk } from './desk.js'
import { drawSecrets, writeEnvFiles } from './envFiles.js'
import { fileOf, populate, sendAll } from './localChain.js'
import { claimPorts } from './ports.js'
import { assertBuilt, type ServerProcess, startProcess, untilOk } from './serverProcess.js'
import {
  ATTESTED_ENCLAVE,
  BLOCK_TIME,
  DELAYS,
  EQUITIES,
  IDLE_BLOCK_TIME,
  type SandboxOptions,
  STATE_SECONDS,
  stepsTo,
} from './settings.js'

/** A running platform: chain, broker stand-in, server, one institution with its cleared employees. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/**
 * Starts every part on this machine; does not publish a rulebook.
 * @throws CommandError `build-missing`, `port-taken`, `directory-foreign`; DirectoryLockedError
 */
export async function startSandbox(options: SandboxOptions) {
  const { directory, print, blockTime = BLOCK_TIME } = options
  assertBuilt(options.ports.desk !== undefined)
  await using cleanUp = new AsyncDisposableStack()
  const printStep = stepsTo(print)
  const ports = await claimPorts({ enclave: 0, ...options.ports, ops: 0, relay: 0, witness: 0 })
  const lock = await takeDirectory(directory)
  cleanUp.defer(async () => lock.release())
  const drawn = drawSecrets()
  const idleTime = options.blockTime ?? IDLE_BLOCK_TIME
  const states = options.states ?? Math.ceil(STATE_SECONDS / Math.min(blockTime, 1))
  const anvil = await startAnvil({ port: ports.rpc, states })
  cleanUp.defer(() => anvil.stop())
  const rhythm = `a block every ${blockTime} s, or ${idleTime} s without transactions`
  printStep('chain', `anvil, ${rhythm}, at ${anvil.rpcUrl}`)
  const { provider } = anvil
  const accounts = castAccounts(anvil)
  const broker = await startBrokerStandIn({
    port: ports.broker,
    seed: 20_260_101,
    accounts: [drawn.enclaveBroker, drawn.serverBroker],
    symbols: EQUITIES,
    walkIntervalMs: options.walkIntervalMs,
  })
  cleanUp.defer(() => broker.stop())
  printStep('broker', `a stand-in for Alpaca's API, at ${broker.url}`)
  const isBorn = options.keys === 'born'
  const deployed = await populate(provider, accounts, printStep, {
    enclaveSigner: isBorn ? null : drawn.enclaveSigner,
    delays: { ...DELAYS, rotation: options.rotationDelay ?? DELAYS.rotation },
  })
  const setup = isBorn ? await prepareAttested(directory, ports, cleanUp) : undefined
  const info = fileOf(ports, anvil, broker.url, deployed, accounts)
  await writeEnvFiles(options, info, drawn, accounts, setup, printStep)
  await writeFile(join(directory, 'sandbox.json'), `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 })
  writeDeployment(directory, { ...deployed, chainId: anvil.chainId, firstBlock: 0 })
  const ofAttested = setup && { main: ATTESTED_ENCLAVE, variables: { SANDBOX_DEVICE: setup.device } }
  const launchEnclave = () => startProcess('enclave', { directory, url: info.enclaveUrl, ...ofAttested })
  const enclave = await keptUp(launchEnclave, cleanUp)
  printStep('enclave', `its own process, accepts jobs at ${info.enclaveUrl}`)
  const narrate = (line: string) => print(`  │ ${line}`)
  const launchServer = () => startProcess('server', { directory, url: info.url, narrate })
  // It is there when the enclave posts its evidence.
  let server = await launchServer()
  cleanUp.defer(() => server.stop())
  printStep('server', `the real one, its own process, at ${info.url}`)
  printStep('', `operator endpoints: ${info.opsUrl}/readyz, ${info.opsUrl}/metrics`)
  const attested =
    setup && (await giveBirth(directory, setup, info, drawn.triggerSecret, drawn.enclaveBroker))
  if (attested) {
    const { signer, measurement, config } = attested.born
    const args = [signer, measurement, config]
    const call = { to: deployed.authority, abi: interfaces.authority, method: 'rotateSigner', args }
    await sendAll(provider, accounts.owner, [call])
    printStep('keys', 'born in the enclave, 2 of 3 holders gave their shares; the chain has its signer')
  }
  const born = attested && { intentPublicKey: attested.born.sealKey, enclaveSigner: attested.born.signer }
  const secrets = { ...drawn, ...born }
  await writeDesk(directory, info, secrets.intentPublicKey)
  await anvil.mineEvery(blockTime, idleTime)
  if (attested && !(await untilOk(`${info.url}/enclave-key`))) throw new Error('the server has no evidence')
  if (info.deskUrl !== undefined) {
    cleanUp.defer(await startDesk(info.deskUrl, info, attested ?? secrets.intentPublicKey))
    printStep('desk', `the page to trade on, at ${info.deskUrl}`)
  }
  const owned = cleanUp.move()
  return {
    ...{ directory, info, accounts, secrets, provider },
    broker: broker.control,
    /** The current server process. */
    server: () => server,
    /** Restarts the server after it was stopped or killed. */
    async restartServer() {
      server = await launchServer()
    },
    /** The current enclave process. One that is killed is started again, and one that is stopped is not. */
    enclave,
    /** What people know of an attested enclave, where its keys were born in it. */
    attested,
    /** Stops every part. */
    stop: () => owned.disposeAsync(),
  }
}

/** Starts an enclave again until it ends well. Stopping the sandbox kills it: its runs would otherwise outlive the sandbox. */
async function keptUp(launch: () => Promise<ServerProcess>, cleanUp: AsyncDisposableStack) {
  let isStopping = false
  let enclave = await launch()
  const keepUp = async () => {
    while (!isStopping) {
      const [code] = await enclave.exited
      if (isStopping || code === 0) return
      enclave = await launch()
    }
  }
  // The log states why one does not start again; callers that wait for the enclave fail.
  const ended = keepUp().catch(() => undefined)
  cleanUp.defer(async () => {
    isStopping = true
    await enclave.kill()
    await ended
    await enclave.kill()
  })
  return () => enclave
}

/** Marks a directory as a sandbox's, whose content may be deleted. */
const MARKER = '.sandbox'
const ABOUT_MARKER = 'The files in this directory belong to `npm run sandbox`, which deletes them.\n'
const CONTENTS = [
  ...[
    'server',
    'server.log',
    'enclave',
    'enclave.log',
    'device',
    'policy.json',
    'broker.json',
    'shares.json',
  ],
  ...['holder.key', 'holder.share', 'holder-2.key', 'holder-2.share', 'holder-3.key'],
  ...['sandbox.json', 'deployment.json', '.env', '.env.enclave', 'desk.json'],
]

/**
 * Creates the directory, or removes an earlier sandbox's files from it. Other sandboxes cannot take it until it is released.
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
  await writeFile(join(directory, MARKER), ABOUT_MARKER)
  const lock = lockDirectory(directory)
  for (const name of CONTENTS) await rm(join(directory, name), { recursive: true, force: true })
  return lock
}
