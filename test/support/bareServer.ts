import { onTestFinished } from 'vitest'
import { startServer } from '../../src/server/server.js'
import { createLogLines } from './logLines.js'
import { openQuickly } from './quickStores.js'
import { serverConfig } from './serverEnvironment.js'
import { temporaryDirectory } from './temporaryDirectory.js'

/** A server of the running test, as `main` starts it; no node, broker or enclave answers it unless `env` names one. */
export async function bareServer(
  env: Record<string, string> = {},
  times?: Parameters<typeof startServer>[2]['times'],
) {
  const dataDir = env.DATA_DIR ?? (await temporaryDirectory())
  const log = createLogLines()
  const server = await startServer(serverConfig({ DATA_DIR: dataDir, ...env }), log.logger, {
    openEngine: openQuickly,
    times,
  })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= server.stop())
  onTestFinished(stop)
  const at = (port: number) => `http://127.0.0.1:${port}`
  const { port, opsPort, relayPort } = server
  return { port, url: at(port), opsUrl: at(opsPort), relayUrl: at(relayPort), stop, dataDir, log }
}
