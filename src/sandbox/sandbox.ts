import { join } from 'node:path'
import type { JsonRpcProvider } from 'ethers'
import { formatUsdc } from '../server/narrator/format.js'
import { castAccounts, type SandboxAccounts } from './accounts.js'
import { startAnvil } from './anvil.js'
import { type BrokerControl, startBrokerStandIn } from './broker/index.js'
import { createCleanUp } from './cleanUp.js'
import { assertDeskBuilt, deskSettings, startDesk } from './desk.js'
import { takeDirectory } from './directory.js'
import { endEnclaves } from './enclaveRuns.js'
import { type Places, writeEnvFiles } from './envFiles.js'
import { type Deployed, deployAll, foundInstitution, joinInstitution, localProvider } from './localChain.js'
import { claimPorts } from './ports.js'
import { describeSandbox, type SandboxFile, writeSandboxFile } from './sandboxFile.js'
import { drawSecrets, publicIdentity, type SandboxSecrets } from './secrets.js'
import { assertBuilt, type ServerProcess, startEnclaveProcess, startServerProcess } from './serverProcess.js'
import { BLOCK_TIME, EMPLOYEE_USDC, EQUITIES, INSTITUTION, type SandboxOptions } from './settings.js'
import { stepsTo, type TellStep } from './steps.js'

const PRICE_SEED = 20_260_101

/** A running platform: chain, broker stand-in, server, one institution with its cleared employees. */
export interface Sandbox {
  readonly directory: string
  readonly info: SandboxFile
  readonly accounts: SandboxAccounts
  readonly secrets: SandboxSecrets
  readonly provider: JsonRpcProvider
  readonly broker: BrokerControl
  /** The server that runs now. */
  server(): ServerProcess
  /** Starts the server again after it was stopped or killed. */
  restartServer(): Promise<void>
  /** The enclave that runs now, unless the server starts it. The sandbox starts it again when it is killed. */
  enclave(): ServerProcess | undefined
  /** Ends everything that was started. */
  stop(): Promise<void>
}

/**
 * Starts everything on this machine; the rulebook is not published yet.
 * @throws MissingBuildError, PortTakenError, ForeignDirectoryError, DirectoryLockedError
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

/** What every part of the start works with. */
interface Stage {
  readonly cleanUp: ReturnType<typeof createCleanUp>
  readonly tell: TellStep
}

async function start(options: SandboxOptions, cleanUp: Stage['cleanUp']): Promise<Sandbox> {
  const { directory, print } = options
  const stage = { cleanUp, tell: stepsTo(print) }
  const isOwn = options.enclave !== 'server'
  const { enclave: enclavePort = 0, ...fixed } = options.ports
  const ports = await claimPorts(isOwn ? { ...fixed, enclave: enclavePort } : fixed)
  const lock = await takeDirectory(directory)
  cleanUp.add(async () => lock.release())
  const secrets = drawSecrets()
  const { anvil, accounts, provider } = await startChain(ports.rpc, stage)
  const broker = await startBroker(options, ports.broker, secrets, stage)
  const deployed = await deployAll(provider, accounts, publicIdentity(secrets).enclaveSigner)
  stage.tell('contracts', 'five deployed, and a test USDC')
  const places: Places = {
    url: `http://127.0.0.1:${ports.server}`,
    opsUrl: `http://127.0.0.1:${ports.ops}`,
    rpcUrl: anvil.rpcUrl,
    brokerUrl: broker.url,
    chainId: anvil.chainId,
    contracts: deployed.contracts,
    enclaveUrl: isOwn ? `http://127.0.0.1:${ports.enclave}` : undefined,
    deskUrl: ports.desk === undefined ? undefined : `http://localhost:${ports.desk}`,
  }
  const info = describeSandbox(places, deployed.usdc, accounts)
  await writeEnvFiles(options, places, secrets, accounts)
  await writeSandboxFile(directory, info)
  await populate(provider, accounts, deployed, stage)
  const enclave = await startEnclave(options, places.enclaveUrl, stage)
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
    enclave,
    stop: () => cleanUp.run(),
  }
}

async function startChain(port: number, { cleanUp, tell }: Stage) {
  const anvil = await startAnvil({ port, blockTime: BLOCK_TIME })
  cleanUp.add(() => anvil.stop())
  const provider = localProvider(anvil.rpcUrl, anvil.chainId)
  cleanUp.add(async () => provider.destroy())
  tell('chain', `anvil, a block every ${BLOCK_TIME} s, at ${anvil.rpcUrl}`)
  return { anvil, provider, accounts: castAccounts(anvil) }
}

async function startBroker(
  { walkIntervalMs }: SandboxOptions,
  port: number,
  secrets: SandboxSecrets,
  { cleanUp, tell }: Stage,
) {
  const broker = await startBrokerStandIn({
    port,
    seed: PRICE_SEED,
    accounts: [secrets.enclaveBroker, secrets.serverBroker],
    symbols: EQUITIES,
    walkIntervalMs,
  })
  cleanUp.add(() => broker.stop())
  tell('broker', `a stand-in that speaks Alpaca's API, at ${broker.url}`)
  return broker
}

/** Founds the institution and has its employees join. */
async function populate(
  provider: JsonRpcProvider,
  accounts: SandboxAccounts,
  deployed: Deployed,
  { tell }: Stage,
): Promise<void> {
  await foundInstitution(provider, accounts, deployed)
  tell(
    'institution',
    `"${INSTITUTION}" founded, ${EQUITIES.length} equities listed, ${accounts.employees.length} employees invited`,
  )
  await joinInstitution(provider, accounts, deployed)
  tell('employees', `joined, KYC done, ${formatUsdc(EMPLOYEE_USDC)} in each wallet`)
}

/** Nothing where the server starts it. Its runs go on when it stops, and nothing of a sandbox may: so it is killed. */
async function startEnclave(
  { directory }: SandboxOptions,
  url: string | undefined,
  { cleanUp, tell }: Stage,
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
    // Its log says why; what waits for it fails.
    next.catch(() => undefined)
  }
  keepUp()
  cleanUp.add(async () => {
    isStopping = true
    await enclave.kill()
    await next.catch(() => undefined)
    await enclave.kill()
  })
  tell('enclave', `its own process, takes jobs at ${url}`)
  return () => enclave
}

/** Nothing where no port was given for it. */
async function serveDesk(
  places: Places,
  secrets: SandboxSecrets,
  accounts: SandboxAccounts,
  { cleanUp, tell }: Stage,
): Promise<void> {
  const { deskUrl } = places
  if (deskUrl === undefined) return
  const desk = await startDesk(
    Number(new URL(deskUrl).port),
    deskSettings({ ...places, deskUrl }, secrets, accounts),
  )
  cleanUp.add(() => desk.stop())
  tell('desk', `the page to trade on, at ${deskUrl}`)
}

async function startServer(
  { directory, print }: SandboxOptions,
  { url, opsUrl }: Places,
  { cleanUp, tell }: Stage,
) {
  const launch = () => startServerProcess({ directory, url, narrate: (line) => print(`  │ ${line}`) })
  cleanUp.add(() => endEnclaves(join(directory, 'server')))
  let server = await launch()
  cleanUp.add(() => server.stop())
  tell('server', `the real one, its own process, at ${url}`)
  tell('', `for its operator: ${opsUrl}/readyz, ${opsUrl}/metrics`)
  return {
    current: () => server,
    async restart() {
      server = await launch()
    },
  }
}
