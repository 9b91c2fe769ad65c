import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enclaveProcesses } from '../../e2e/support/enclaveProcesses.js'
import type { Platform } from './platform.js'
import type { Traders } from './traders.js'

/** What must be empty, when every order has ended. */
const WAITING = 'envelopes/open'
const PLACES = [WAITING, 'runs', 'tmp', 'receipts/open']
const PAUSE_MS = 250

/** What is left behind when all is done: open records, notes of runs, half-written files, processes. Looks again for a while. */
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
    const found = [...files.map((name) => `${name} is left`), ...(await processesLeft(platform))]
    if (found.length === 0 || performance.now() > giveUpAt) return found
    await sleep(PAUSE_MS)
  }
}

async function filesLeft({ dataDir }: Platform): Promise<string[]> {
  const names = await Promise.all(
    PLACES.map(async (place) => {
      const found = await readdir(join(dataDir, place)).catch(() => [])
      return found.map((name) => `${place}/${name}`)
    }),
  )
  return names.flat()
}

async function processesLeft({ sandbox }: Platform): Promise<string[]> {
  const running = await enclaveProcesses(sandbox)
  return running.map(({ pid }) => `a process of a run is left (${pid})`)
}
