import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { healthSchema } from '../../src/enclave/resident/door.js'
import { enclaveProcesses } from '../e2e/support/enclaveProcesses.js'
import type { World } from './world.js'

/** Finds open records and runs of the enclave that are left once every order has ended. */
export async function findLeftovers(world: World): Promise<string[]> {
  const tables = ['orders', 'runs', 'relays', 'cancels'] as const
  const rows = (await Promise.all(tables.map((table) => world.store.rows(table)))).flat()
  return [
    ...rows.filter(({ isOpen }) => isOpen).map(({ table, id }) => `${table} ${id} is left`),
    ...(world.servers.length === 1 ? await enclavesLeft(world) : []),
  ]
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
