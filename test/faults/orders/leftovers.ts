import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { healthSchema } from '../../../src/enclave/resident/door.js'
import { STOPPED_AFTER_MS } from '../../../src/server/trigger/runner.js'
import { enclaveProcesses } from '../../e2e/support/enclaveProcesses.js'
import { storedRows } from '../../support/storedRows.js'
import type { Platform } from './platform.js'
import type { Traders } from './traders.js'

/** What must be empty, when every order has ended. */
const WAITING = 'orders'
const NOTES = 'runs'
const TABLES = [WAITING, NOTES, 'relays'] as const
const PAUSE_MS = 250
const noteSchema = z.object({ job: z.literal('policy'), stopAt: z.number() })

/** What is left behind when all is done: open records, notes of runs, results, runs of the enclave. Looks again for a while. */
export async function findLeftovers(
  platform: Platform,
  { placed }: Pick<Traders, 'placed'>,
  patienceMs: number,
): Promise<string[]> {
  // Junk without an escrow waits until it expires.
  const isOwn = (name: string) =>
    !name.startsWith(WAITING) || [...placed.keys()].some((orderId) => name.includes(orderId))
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const files = (await filesLeft(platform)).filter(isOwn)
    const found = [...files.map((name) => `${name} is left`), ...(await enclavesLeft(platform))]
    if (found.length === 0 || performance.now() > giveUpAt) return found
    await sleep(PAUSE_MS)
  }
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

/** Its server was killed between the note and the offer: a rulebook of the hostile client counts as under way for its time. */
function mayBeUnderWay(doc: string): boolean {
  const note = noteSchema.safeParse(JSON.parse(doc))
  return note.success && Date.now() < note.data.stopAt * 1_000 + STOPPED_AFTER_MS
}

/** The server keeps one enclave up, which has nothing to do. */
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
