import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enclaveProcesses } from '../../e2e/support/enclaveProcesses.js'
import type { Platform } from './platform.js'

/** What must be empty, when every order has ended. */
const PLACES = ['envelopes/open', 'runs', 'tmp', 'receipts/open']
const PAUSE_MS = 250

/** What is left behind when all is done: open records, notes of runs, half-written files, processes. Looks again for a while. */
export async function findLeftovers(platform: Platform, patienceMs: number): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const found = [...(await filesLeft(platform)), ...(await processesLeft(platform))]
    if (found.length === 0 || performance.now() > giveUpAt) return found
    await sleep(PAUSE_MS)
  }
}

async function filesLeft({ dataDir }: Platform): Promise<string[]> {
  const names = await Promise.all(
    PLACES.map(async (place) => {
      const found = await readdir(join(dataDir, place)).catch(() => [])
      return found.map((name) => `${place}/${name} is left`)
    }),
  )
  return names.flat()
}

async function processesLeft({ sandbox }: Platform): Promise<string[]> {
  const running = await enclaveProcesses(sandbox)
  return running.map(({ pid }) => `a process of a run is left (${pid})`)
}
