import { close, listen, portOf } from '../server/http/listener.js'
import { createLifetime } from '../server/lifetime.js'
import { createAtomicFiles } from '../server/store/atomicFiles.js'
import { lockDirectory } from '../server/store/directoryLock.js'
import { createEnvFileCheck } from '../server/trigger/envFileCheck.js'
import { createProcessRunner } from '../server/trigger/runs/processRunner.js'
import type { Logger } from '../service/logger.js'
import { createHostApp } from './app.js'
import type { HostConfig } from './config.js'
import { createDelivery } from './delivery.js'
import { createHostedRunRecords } from './records.js'
import { createHostedRuns } from './runs.js'

export interface RunningHost {
  readonly port: number
  /** Stops accepting; runs go on, and the next host picks them up. Call it once. */
  stop(): Promise<void>
}

/**
 * Takes the data directory, goes on with what an earlier host left, then listens.
 * @throws DirectoryLockedError, StorageError, or the system error of `listen`; nothing is left running then
 */
export async function startHost(config: HostConfig, logger: Logger): Promise<RunningHost> {
  const lock = await lockDirectory(config.dataDir)
  try {
    return await startLocked(config, logger, () => lock.release())
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startLocked(
  config: HostConfig,
  logger: Logger,
  release: () => Promise<void>,
): Promise<RunningHost> {
  const { http, secret, serverUrl, command, envFile, maxRuns, dataDir: root } = config
  const files = createAtomicFiles({ root })
  await files.clean()
  const stopping = new AbortController()
  const { signal } = stopping
  const records = createHostedRunRecords({ files, root, logger })
  const { resultDirectory } = records
  const runs = createHostedRuns({
    records,
    // The system's search path, which every program gets, is not part of the host's configuration.
    runner: createProcessRunner({ command, envFile, searchPath: process.env.PATH ?? '', resultDirectory }),
    delivery: createDelivery({ serverUrl, secret, stopping: signal, logger }),
    maxRuns,
    logger,
  })
  const envFileCheck = createEnvFileCheck({ path: envFile, logger })
  const lifetime = createLifetime([envFileCheck, ...runs.services], logger)
  // Before a job is taken, what was accepted earlier has to be known.
  await lifetime.start()
  try {
    const server = await listen(http, createHostApp({ secret, runs, logger, stopping: signal }))
    return {
      port: portOf(server),
      async stop() {
        stopping.abort()
        await close(server, http.shutdownTimeoutMs)
        await lifetime.stop()
        await release()
      },
    }
  } catch (error) {
    await lifetime.stop()
    throw error
  }
}
