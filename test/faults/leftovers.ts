import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { healthSchema } from '../../src/enclave/resident/door.js'
import { STOPPED_AFTER_MS } from '../../src/server/trigger/runner.js'
import { enclaveProcesses } from '../e2e/support/enclaveProcesses.js'
import type { Traders } from './traders.js'
import type { StoredRow, World } from './world.js'

const noteSchema = z.object({ job: z.literal('policy'), stopAt: z.number() })
/** The server removes a row that no server follows in a sweep each half minute, and half a minute later for clocks that differ. */
const REMOVED_AFTER_MS = STOPPED_AFTER_MS + 60_000

/** Finds open records and runs of the enclave that are left once every order has ended. */
export async function findLeftovers(world: World, { placed }: Pick<Traders, 'placed'>): Promise<string[]> {
  // Junk without an escrow waits until it expires.
  const isOwn = ({ table, id }: StoredRow) =>
    table !== 'orders' || [...placed.keys()].some((orderId) => id.includes(orderId))
  const tables = ['orders', 'runs', 'relays', 'cancels'] as const
  const rows = (await Promise.all(tables.map((table) => world.store.rows(table)))).flat()
  const left = rows.filter((row) => row.isOpen && isOwn(row) && !mayBeUnderWay(row))
  return [
    ...left.map(({ table, id }) => `${table} ${id} is left`),
    ...(world.servers.length === 1 ? await enclavesLeft(world) : []),
  ]
}

/** A kill between the note and the offer leaves a rulebook of the hostile client under way for the time of its run. */
function mayBeUnderWay({ table, doc }: StoredRow): boolean {
  if (table !== 'runs') return false
  const note = noteSchema.safeParse(JSON.parse(doc))
  return note.success && Date.now() < note.data.stopAt * 1_000 + REMOVED_AFTER_MS
}

/** A server that starts its enclave keeps one idle enclave up. */
async function enclavesLeft({ sandbox }: World): Promise<string[]> {
  const [running, runs] = await Promise.all([enclaveProcesses(sandbox), runsUnderWay(sandbox.directory)])
  return [
    ...(running.length === 1 ? [] : [`${running.length} enclaves are up`]),
    ...(runs === 0 ? [] : [`${runs ?? 'unknown'} runs of the enclave are left`]),
  ]
}

/** Undefined when no enclave answers. */
async function runsUnderWay(directory: string): Promise<number | undefined> {
  try {
    const socketPath = join(directory, 'server', 'enclave', 'door.sock')
    const asked = get({ socketPath, path: '/health', agent: false })
    const [response]: IncomingMessage[] = await once(asked, 'response')
    return response && healthSchema.parse(await json(response)).runs
  } catch {
    return undefined
  }
}
