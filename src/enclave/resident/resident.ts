import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { describeError, type Logger } from '../../service/logger.js'
import { createPost } from '../../service/post.js'
import type { Enclave } from '../enclave.js'
import { createDelivery } from './delivery.js'
import { createDoor, type Program, type Routes } from './door.js'
import { createResidentRuns } from './runs.js'
import { openRunTable, type RunTable } from './runTable.js'
import type { ResidentSettings } from './settings.js'

/** An enclave that stays up. */
export interface Resident {
  /** The one in use, also when 0 asked for any; 0 on a socket. */
  readonly port: number
  /** Takes no further job; resolves once its runs have ended. Call it once. */
  stop(): Promise<void>
}

const POST_TIMEOUT_MS = 10_000
/** Besides those of the relay's client. */
const POST_CONNECTIONS = 16
const SWEEP_INTERVAL_MS = 60_000

/** Takes the state directory. @throws StateLockedError, or SQLite's error */
export function openTable({ stateDirectory }: ResidentSettings, logger: Logger): RunTable {
  return openRunTable(stateDirectory, {
    onUnsynced(error) {
      logger.error('run table not synced', describeError(error))
      // The next boot reads what the disk holds, and reports every run as over.
      process.exit(1)
    },
  })
}

/**
 * Begins to post what earlier boots have left, then listens.
 * @param options `enclave` answers undefined until it has its keys; `routes` are further routes of the door, by their paths
 * @throws the system error of `listen`; nothing is left running then, and the table is closed
 */
export async function startResident(
  settings: ResidentSettings,
  options: {
    readonly table: RunTable
    readonly enclave: () => Enclave | undefined
    readonly program: Program
    readonly routes?: Routes
    readonly logger: Logger
  },
): Promise<Resident> {
  const { table, enclave, program, routes, logger } = options
  const { boot } = table
  const stopping = new AbortController()
  const delivery = createDelivery({
    ...settings,
    post: createPost({ timeoutMs: POST_TIMEOUT_MS, maxConnections: POST_CONNECTIONS }),
    boot,
    stopping: stopping.signal,
    logger,
  })
  const runs = createResidentRuns({ enclave, table, delivery, maxRuns: settings.maxRuns, logger })
  const door = createDoor({ secret: settings.secret, runs, boot, program, logger, ...(routes && { routes }) })
  try {
    await listen(door, settings.listen)
  } catch (error) {
    table.close()
    throw error
  }
  runs.resume()
  const sweeping = setInterval(() => {
    runs.sweep().catch(() => logger.warn('old runs not deleted'))
  }, SWEEP_INTERVAL_MS)
  sweeping.unref()
  logger.info('enclave started', {
    ...boot,
    program: program.program,
    count: table.left.length,
    port: portOf(door),
  })
  return {
    port: portOf(door),
    async stop() {
      clearInterval(sweeping)
      const closed = once(door, 'close')
      // The server finds no listener from now on, and so knows that a job does not run.
      door.close()
      door.closeIdleConnections()
      stopping.abort()
      await runs.stop()
      door.closeAllConnections()
      await closed
      table.close()
    },
  }
}

async function listen(door: Server, where: ResidentSettings['listen']): Promise<void> {
  // A socket stays behind a process that was killed. One that answers belongs to another process: `listen` then fails.
  if ('path' in where && (await isLeftBehind(where.path))) rmSync(where.path)
  door.listen(where)
  await once(door, 'listening')
}

async function isLeftBehind(path: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return false
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

function portOf(door: Server): number {
  const address = door.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
