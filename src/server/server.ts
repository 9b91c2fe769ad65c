import { randomUUID } from 'node:crypto'
import { lockDirectory } from '../service/directoryLock.js'
import { createLifetime } from '../service/lifetime.js'
import type { Logger } from '../service/logger.js'
import { registerNativeKeccak } from '../service/nativeKeccak.js'
import { MAX_ENCLAVE_CONNECTIONS } from './app.js'
import { buildServer } from './build.js'
import type { Config } from './config/config.js'
import { close, listen, portOf } from './http/listener.js'
import { reportEachSecond } from './http/middleware.js'
import type { Curve } from './signer/curve.js'
import { openRelayerSigner } from './signer/signer.js'
import type { Engine } from './store/engine.js'
import { checkPlatform } from './store/postgres/platform.js'
import { createDatabases, openPostgres } from './store/postgres/postgresEngine.js'
import type { RetryTimes } from './trigger/orderRun.js'

export type RunningServer = Awaited<ReturnType<typeof startServer>>

/**
 * Opens the database or locks the data directory, listens, and starts the services.
 *
 * @param parts how it opens the stores of a directory; where it works on the curve, by default on the caller's thread; times of the trigger
 * @throws DirectoryLockedError, UnusableDatabaseError, StorageError, RelayerKeyError, or the system error
 *   of `listen`; no part runs on then
 */
export async function startServer(
  config: Config,
  logger: Logger,
  parts: {
    readonly openEngine: (directory: string) => Promise<Engine>
    readonly startCurve?: () => Curve & { stop(): Promise<void> }
    readonly times?: RetryTimes | undefined
  },
) {
  const stopping = new AbortController()
  const cleanUp = new AsyncDisposableStack()
  /** Stops accepting, waits for requests under way within the limit, then stops every service. */
  async function stop(): Promise<void> {
    stopping.abort()
    await cleanUp.disposeAsync()
  }
  try {
    registerNativeKeccak()
    const engine = await openStores(config, parts.openEngine, cleanUp)
    const curve = parts.startCurve?.()
    if (curve) cleanUp.defer(curve.stop)
    const signer = await openRelayerSigner(config.relay.relayerKey, curve)
    const shared = { config, logger, engine, curve, signer, times: parts.times, stopping: stopping.signal }
    return { ...(await listenAndStart(shared, cleanUp)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @param cleanUp releases them, whatever fails */
async function openStores(
  { databaseUrl, leaseTtlMs, dataDir, chain }: Config,
  openEngine: (directory: string) => Promise<Engine>,
  cleanUp: AsyncDisposableStack,
): Promise<Engine> {
  if (databaseUrl === undefined) {
    const lock = lockDirectory(dataDir)
    cleanUp.defer(() => lock.release())
    const engine = await openEngine(dataDir)
    cleanUp.defer(engine.stop)
    return engine
  }
  const engine = await openPostgres(createDatabases(databaseUrl, leaseTtlMs))
  cleanUp.defer(engine.stop)
  await checkPlatform(engine, { chainId: String(chain.chainId), contracts: chain.contracts })
  return engine
}

async function listenAndStart(
  shared: Omit<Parameters<typeof buildServer>[0], 'serverId' | 'output' | 'phase'>,
  cleanUp: AsyncDisposableStack,
) {
  const { config, logger, stopping } = shared
  const { http, ops, relay } = config
  let isStarted = false
  const phase = () => (stopping.aborted ? 'stopping' : isStarted ? 'running' : 'starting')
  const built = buildServer({ ...shared, serverId: randomUUID(), output: process.stdout, phase })
  // First, so that probes get answers while the rest starts.
  const opsServer = await listen({ ...http, ...ops }, built.ops)
  cleanUp.defer(() => close(opsServer, 0))
  const lifetime = createLifetime(built.services, logger)
  cleanUp.defer(lifetime.stop)
  const ofEnclave = { ...http, ...relay.listen, maxConnections: MAX_ENCLAVE_CONNECTIONS }
  const relayServer = await listen(ofEnclave, built.enclave, { ofAll: 'relay-connections' })
  const servers = [relayServer]
  // Together, within one limit. A start that fails waits for no request.
  cleanUp.defer(async () => {
    await Promise.all(servers.map((each) => close(each, isStarted ? http.shutdownTimeoutMs : 0)))
  })
  const server = await listen(http, built.app, {
    ofAll: 'all-connections',
    // Every connection of a proxy is the proxy's own.
    max: http.trustProxy > 0 ? Number.POSITIVE_INFINITY : http.maxConnectionsPerClient,
    onClosed: reportEachSecond(logger, 'connections closed: too many of one client'),
  })
  servers.push(server)
  await lifetime.start()
  isStarted = true
  // Those in use, also where 0 asked for any.
  return { port: portOf(server), opsPort: portOf(opsServer), relayPort: portOf(relayServer) }
}
