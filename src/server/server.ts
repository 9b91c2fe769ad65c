import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { lockDirectory } from '../service/directoryLock.js'
import { createLifetime } from '../service/lifetime.js'
import type { Logger } from '../service/logger.js'
import { registerNativeKeccak } from '../service/nativeKeccak.js'
import { MAX_ENCLAVE_CONNECTIONS } from './app.js'
import { buildServer } from './build.js'
import type { Config } from './config/config.js'
import { type ClientCap, close, listen, portOf } from './http/listener.js'
import { reportEachSecond } from './http/middleware.js'
import { openRelayerKey } from './signer/signer.js'
import type { Engine } from './store/engine.js'
import { checkPlatform } from './store/postgres/inspection.js'
import { createDatabases, openPostgres } from './store/postgres/postgresEngine.js'
import type { RetryTimes } from './trigger/orderRun.js'

export interface RunningServer {
  /** The port in use, also when 0 asked for any. */
  readonly port: number
  /** The port of the operator's endpoints. */
  readonly opsPort: number
  /** The port that the enclave calls. */
  readonly relayPort: number
  /** Stops accepting, waits for requests under way within the limit, then stops every service. Call it once. */
  stop(): Promise<void>
}

/**
 * Opens the database or takes the data directory, listens, and starts the services.
 *
 * @param openEngine opens the stores of a directory
 * @param times of the trigger
 * @throws DirectoryLockedError, UnusableDatabaseError, StorageError, RelayerKeyError, or the system error
 *   of `listen`; no part is left running then
 */
export async function startServer(
  config: Config,
  logger: Logger,
  openEngine: OpenEngine,
  times?: RetryTimes,
): Promise<RunningServer> {
  const stores = await openStores(config, openEngine)
  try {
    return await startOn(stores, config, logger, times)
  } catch (error) {
    await stores.close()
    throw error
  }
}

interface Stores {
  readonly engine: Engine
  /** Releases the directory too. */
  close(): Promise<void>
}

async function openStores(config: Config, openEngine: OpenEngine): Promise<Stores> {
  const { databaseUrl, leaseTtlMs, dataDir, chain } = config
  if (databaseUrl !== undefined) {
    const engine = await openPostgres(createDatabases(databaseUrl, leaseTtlMs))
    try {
      await checkPlatform(engine, { chainId: String(chain.chainId), contracts: chain.contracts })
    } catch (error) {
      await engine.stop()
      throw error
    }
    return { engine, close: engine.stop }
  }
  const lock = lockDirectory(dataDir)
  try {
    const engine = await openEngine(dataDir)
    return {
      engine,
      async close() {
        await engine.stop()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

type OpenEngine = (directory: string) => Promise<Engine>

async function startOn(
  { engine, close: closeStores }: Stores,
  config: Config,
  logger: Logger,
  times: RetryTimes | undefined,
): Promise<RunningServer> {
  registerNativeKeccak()
  const stopping = new AbortController()
  const relayerKey = await openRelayerKey(config.relay.relayerKey)
  const deps = {
    config,
    logger,
    engine,
    serverId: randomUUID(),
    relayerKey,
    stopping: stopping.signal,
    output: process.stdout,
    times,
  }
  let isStarted = false
  const phase = () => (stopping.signal.aborted ? 'stopping' : isStarted ? 'running' : 'starting')
  const { app, enclave, ops, services } = buildServer({ ...deps, phase })
  const lifetime = createLifetime(services, logger)
  const opened: Server[] = []
  try {
    // First, so that probes get answers while the rest starts.
    const opsServer = await listen({ ...config.http, ...config.ops }, ops)
    opened.push(opsServer)
    const relayServer = await listen(
      { ...config.http, ...config.relay.listen, maxConnections: MAX_ENCLAVE_CONNECTIONS },
      enclave,
    )
    opened.push(relayServer)
    const server = await listen(config.http, app, clientCapOf(config.http, logger))
    opened.push(server)
    await lifetime.start()
    isStarted = true
    return {
      port: portOf(server),
      opsPort: portOf(opsServer),
      relayPort: portOf(relayServer),
      async stop() {
        stopping.abort()
        const { shutdownTimeoutMs } = config.http
        await Promise.all([server, relayServer].map((each) => close(each, shutdownTimeoutMs)))
        await lifetime.stop()
        await close(opsServer, 0)
        await closeStores()
      },
    }
  } catch (error) {
    await Promise.all(opened.map((server) => close(server, 0)))
    throw error
  }
}

/** Behind a proxy there is no cap, because every connection is the proxy's own. */
function clientCapOf(http: Config['http'], logger: Logger): ClientCap | undefined {
  if (http.trustProxy > 0) return undefined
  const onClosed = reportEachSecond(logger, 'connections closed: too many of one client')
  return { max: http.maxConnectionsPerClient, onClosed }
}
