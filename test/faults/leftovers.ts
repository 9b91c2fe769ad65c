import { enclaveProcesses } from '../e2e/support/enclaveProcesses.js'
import type { World } from './world.js'

/** Finds records that are open once every order has ended, and enclaves beside the idle one that a server which starts it keeps up. */
export async function findLeftovers({ store, servers, sandbox }: World): Promise<string[]> {
  const tables = ['orders', 'runs', 'relays', 'cancels'] as const
  const rows = (await Promise.all(tables.map((table) => store.rows(table)))).flat()
  const left = rows.filter(({ isOpen }) => isOpen).map(({ table, id }) => `${table} ${id} is left`)
  const enclaves = servers.length > 1 ? 1 : (await enclaveProcesses(sandbox)).length
  return enclaves === 1 ? left : [...left, `${enclaves} enclaves are up`]
}
