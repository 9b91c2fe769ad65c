import type { JsonRpcProvider } from 'ethers'
import { formatUsdc } from '../server/narrator/lines.js'
import { type BrokerControl, startBrokerStandIn } from '../simulator/index.js'
import { castAccounts, type SandboxAccounts } from './accounts.js'
import { startAnvil } from './anvil.js'
import { createCleanUp } from './cleanUp.js'
import { assertDeskBuilt, deskSettings, startDesk } from './desk.js'
import { takeDirectory } from './directory.js'
import { type Places, type SettingDifferences, writeEnvFiles } from './envFiles.js'
import {
  type Deployed,
  delayDifferences,
  deployAll,
  foundInstitution,
  joinInstitution,
  localProvider,
  whileMining,
} from './localChain.js'
import { claimPorts } from './ports.js'
import { describeSandbox, type SandboxFile, writeSandboxFile } from './sandboxFile.js'
import { drawSecrets, publicIdentity, type SandboxSecrets } from './secrets.js'
import { startServer } from './server.js'
import { assertBuilt, HEAP_BOUNDS, type ServerProcess, startEnclaveProcess } from './serverProcess.js'
import {
  BLOCK_TIME,
  EMPLOYEE_USDC,
  EQUITIES,
  IDLE_BLOCK_TIME,
  INSTITUTION,
  type SandboxOptions,
  STATE_SECONDS,
} from './settings.js'
import { type Stage, stepsTo } from './steps.js'

const PRICE_SEED = 20_260_101
/** Wide enough for the longest name of a program. */
const PROGRAM_WIDTH = 11

/** A running platform: chain, broker stand-in, server, one institution with its cleared employees. */
export interface Sandbox {
  readonly directory: string
  readonly info: SandboxFile
  readonly accounts: SandboxAccounts
  readonly secrets: SandboxSecrets
  readonly provider: JsonRpcProvider
  readonly broker: BrokerControl
  /** The current server process. */
  server(): ServerProcess
  /** Restarts the server after it was stopped or killed. */
  restartServer(): Promise<void>
  /** The current enclave process, unless the server starts it. The sandbox restarts it if it is killed. */
  enclave(): ServerProcess | undefined
  /** Stops every part. */
  stop(): Promise<void>
}

/**
 * Starts every part on this machine; does not publish a rulebook.
 * @throws CommandError `build-missing`, `port-taken`, `directory-foreign`; DirectoryLockedError
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  assertBuilt()
  if (options.ports.desk !== undefined) assertDeskBuilt()
  const cleanUp = createCleanUp()
  try {
    return await start(options, cleanUp)
  } catch (error) {
    await cleanUp.run()
    throw error
  }
}

async function start(options: SandboxOptions, cleanUp: Stage['cleanUp']): Promise<Sandbox> {
  const { directory, print } = options
  const stage = { cleanUp, printStep: stepsTo(print) }
  const isOwn = options.enclave !== 'server'
  const { enclave = 0, desk, ...fixed } = options.ports
  const ports = await claimPorts({
    ...{ ...fixed, ops: 0, relay: 0 },
    ...(isOwn && { enclave }),
    ...(desk !== undefined && { desk }),
  })
  const lock = await takeDirectory(directory)
  cleanUp.add(async () => lock.release())
  const secrets = drawSecrets()
  const { anvil, accounts, provider } = await startChain(options, ports.rpc, stage)
  const broker = await startBroker(options, ports.broker, secrets, stage)
  const deployed = await whileMining(provider, () => populate(provider, accounts, secrets, stage))
  const places: Places = {
    url: at(ports.server),
    opsUrl: at(ports.ops),
    relayUrl: at(ports.relay),
    rpcUrl: anvil.rpcUrl,
    brokerUrl: broker.url,
    chainId: anvil.chainId,
    contracts: deployed.contracts,
    enclaveUrl: ports.enclave === undefined ? undefined : at(ports.enclave),
    deskUrl: ports.desk === undefined ? undefined : `http://localhost:${ports.desk}`,
  }
  const info = describeSandbox(places, deployed.usdc, accounts)
  printSettings(await writeEnvFiles(options, places, secrets, accounts), stage)
  await writeSandboxFile(directory, info)
  const currentEnclave = await startEnclave(options, places.enclaveUrl, stage)
  const server = await startServer(options, places, stage)
  await serveDesk(places, secrets, accounts, stage)
  return {
    directory,
    info,
    accounts,
    secrets,
    provider,
    broker: broker.control,
    server: server.current,
    restartServer: server.restart,
    enclave: currentEnclave,
    stop: () => cleanUp.run(),
  }
}

async function startChain(options: SandboxOptions, port: number, { cleanUp, printStep }: Stage) {
  const { blockTime = BLOCK_TIME, states = Math.ceil(STATE_SECONDS / Math.min(blockTime, 1)) } = options
  const idleTime = options.blockTime ?? IDLE_BLOCK_TIME
  const anvil = await startAnvil({ port, blockTime, idleTime, states })
  cleanUp.add(() => anvil.stop())
  const provider = localProvider(anvil.rpcUrl, anvil.chainId)
  cleanUp.add(async () => provider.destroy())
  const rhythm = `a block every ${blockTime} s, or ${idleTime} s without transactions`
  printStep('chain', `anvil, ${rhythm}, at ${anvil.rpcUrl}`)
  return { anvil, provider, accounts: castAccounts(anvil) }
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
  cleanUp.add(() => broker.stop())
  printStep('broker', `a stand-in for Alpaca's API, at ${broker.url}`)
  return broker
}

/** Deploys the contracts, founds the institution and has its employees join. */
async function populate(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  secrets: SandboxSecrets,
  { printStep }: Stage,
): Promise<Deployed> {
  const deployed = await deployAll(provider, accounts, publicIdentity(secrets).enclaveSigner)
  printStep('contracts', 'five deployed, and a test USDC')
  await foundInstitution(provider, accounts, deployed)
  printStep(
    'institution',
    `"${INSTITUTION}" founded, ${EQUITIES.length} equities listed, ${accounts.employees.length} employees invited`,
  )
  await joinInstitution(provider, accounts, deployed)
  printStep('employees', `joined, KYC done, ${formatUsdc(EMPLOYEE_USDC)} in each wallet`)
  return deployed
}

function printSettings(differences: SettingDifferences, { printStep }: Stage): void {
  printStep('settings', 'each has its default, but for these, whose defaults are in brackets:')
  const node = HEAP_BOUNDS.map((bound) => `${bound} [unset]`)
  for (const [program, lines] of Object.entries({ ...differences, contracts: delayDifferences(), node }))
    for (const line of lines) printStep('', `${program.padEnd(PROGRAM_WIDTH)}${line}`)
}

/**
 * Undefined if the server starts the enclave. Stopping kills the enclave: its runs would otherwise outlive the sandbox.
 */
async function startEnclave(
  { directory }: SandboxOptions,
  url: string | undefined,
  { cleanUp, printStep }: Stage,
): Promise<() => ServerProcess | undefined> {
  if (url === undefined) return () => undefined
  let isStopping = false
  let enclave = await startEnclaveProcess({ directory, url })
  let next: Promise<void> = Promise.resolve()
  const keepUp = () => {
    next = enclave.exited.then(async () => {
      if (isStopping) return
      enclave = await startEnclaveProcess({ directory, url })
      keepUp()
    })
    // The log states the reason; callers that wait for the enclave fail.
    next.catch(() => undefined)
  }
  keepUp()
  cleanUp.add(async () => {
    isStopping = true
    await enclave.kill()
    await next.catch(() => undefined)
    await enclave.kill()
  })
  printStep('enclave', `its own process, accepts jobs at ${url}`)
  return () => enclave
}

/** Serves the page, if a port was given. */
async function serveDesk(
  places: Places,
  secrets: SandboxSecrets,
  accounts: SandboxAccounts,
  { cleanUp, printStep }: Stage,
): Promise<void> {
  const { deskUrl } = places
  if (deskUrl === undefined) return
  const desk = await startDesk(
    Number(new URL(deskUrl).port),
    deskSettings({ ...places, deskUrl }, secrets, accounts),
  )
  cleanUp.add(() => desk.stop())
  printStep('desk', `the page to trade on, at ${deskUrl}`)
}

function at(port: number): string {
  return `http://127.0.0.1:${port}`
}
