import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { MEMORY_OPTIONS, type Memory, memoryOf } from './memory.js'
import { startServerProcess } from './ourServer.js'

/** What a start takes, and what it leaves the process with. */
export interface Idle extends Memory {
  readonly listeningMs: number
  readonly readyMs: number
}

/** Until what a start does is done: the narrator and the relay have looked as well. */
const SETTLE_MS = 5_000
const READY_WITHIN_MS = 120_000
const POLL_MS = 50
/** The blocks of one query of events. Nodes give about ten thousand events at once. */
const SETTINGS = { RPC_LOG_RANGE: '4' }

const lineSchema = z.object({ time: z.iso.datetime().transform((text) => Date.parse(text)), msg: z.string() })

/** Starts the compiled server on a data directory, in the place of the sandbox's own, and looks at it while it idles. */
export async function measureIdle(
  { directory, info }: Sandbox,
  dataDir: string,
  nodeOptions: readonly string[],
): Promise<Idle> {
  const env = { ENV_FILE: join(directory, '.env'), DATA_DIR: dataDir, ...SETTINGS }
  const startedAt = Date.now()
  const { child, stop } = await startServerProcess({
    directory,
    url: info.url,
    env,
    nodeOptions: [...nodeOptions, ...MEMORY_OPTIONS],
  })
  try {
    const log = join(directory, 'measured.log')
    const readyMs = (await timeOf(log, 'open orders read')) - startedAt
    const listeningMs = (await timeOf(log, 'listening')) - startedAt
    await sleep(SETTLE_MS)
    return { listeningMs, readyMs, ...(await memoryOf(child)) }
  } finally {
    await stop()
  }
}

/** Unix milliseconds of the log's first line with that message, once it is there. */
async function timeOf(log: string, message: string): Promise<number> {
  const giveUpAt = Date.now() + READY_WITHIN_MS
  while (Date.now() < giveUpAt) {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes(`"${message}"`))
    const [first] = lines.map((line) => lineSchema.parse(JSON.parse(line)))
    if (first !== undefined) return first.time
    await sleep(POLL_MS)
  }
  throw new Error(`the server does not say "${message}": see measured.log`)
}
