import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { healthSchema } from '../../../src/enclave/resident/door.js'
import { STOPPED_AFTER_MS } from '../../../src/server/trigger/runner.js'
import { enclaveProcesses } from '../../e2e/support/enclaveProcesses.js'
import { storedRows } from '../../support/storedRows.js'
import type { Platform } from './platform.js'
import type { Traders } from './traders.js'

const WAITING = 'orders'
const NOTES = 'runs'
const TABLES = [WAITING, NOTES, 'relays', 'cancels'] as const
const noteSchema = z.object({ job: z.literal('policy'), stopAt: z.number() })

/** Finds open records, results and runs of the enclave that are left once every order has ended. */
export async function findLeftovers(
  platform: Platform,
  { placed }: Pick<Traders, 'placed'>,
): Promise<string[]> {
  // Junk without an escrow waits until it expires.
  const isOwn = (name: string) =>
    !name.startsWith(WAITING) || [...placed.keys()].some((orderId) => name.includes(orderId))
  const files = (await filesLeft(platform)).filter(isOwn)
  return [...files.map((name) => `${name} is left`), ...(await enclavesLeft(platform))]
}

async function filesLeft({ dataDir }: Platform): Promise<string[]> {
  const results = await readdir(join(dataDir, NOTES)).catch(() => [])
  const records = TABLES.flatMap((table) =>
    storedRows(dataDir, table)
      .filter(({ is_open, doc }) => is_open === 1 && !(table === NOTES && mayBeUnderWay(doc)))
      .map(({ id }) => `${table} ${id}`),
  )
  return [...results.map((name) => `${NOTES}/${name}`), ...records]
}

/** The server removes a row that no server follows in a sweep each half minute, and half a minute later for clocks that differ. */
const REMOVED_AFTER_MS = STOPPED_AFTER_MS + 60_000

/** A kill between the note and the offer leaves a rulebook of the hostile client under way for the time of its run. */
function mayBeUnderWay(doc: string): boolean {
  const note = noteSchema.safeParse(JSON.parse(doc))
  return note.success && Date.now() < note.data.stopAt * 1_000 + REMOVED_AFTER_MS
}

/** The server keeps one idle enclave up. */
async function enclavesLeft({ sandbox, dataDir }: Platform): Promise<string[]> {
  const [running, runs] = await Promise.all([enclaveProcesses(sandbox), runsUnderWay(dataDir)])
  return [
    ...(running.length === 1 ? [] : [`${running.length} enclaves are up`]),
    ...(runs === 0 ? [] : [`${runs ?? 'unknown'} runs of the enclave are left`]),
  ]
}

/** Undefined when no enclave answers. */
async function runsUnderWay(dataDir: string): Promise<number | undefined> {
  try {
    const [response]: IncomingMessage[] = await once(
      get({ socketPath: join(dataDir, 'enclave', 'door.sock'), path: '/health', agent: false }),
      'response',
    )
    return response && healthSchema.parse(await json(response)).runs
  } catch {
    return undefined
  }
}
