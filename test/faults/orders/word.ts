import { statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the processes have left word of. */
export interface Word {
  /** Runs that have begun, or have ended by themselves. */
  runs(event: 'started' | 'ended'): number
  /** Resolves when so many more have. */
  further(event: 'started' | 'ended', count: number, over: AbortSignal): Promise<void>
  /** Runs of one account at the same time. */
  overlaps(): Promise<string[]>
  /** By kind: how often a file operation failed, and what runs did. */
  struck(): Promise<Record<string, number>>
}

const LOOK_MS = 5

export function createWord(bench: string): Word {
  const runs = (event: string) => statSync(join(bench, event), { throwIfNoEntry: false })?.size ?? 0
  return {
    runs,
    async further(event, count, over) {
      const enough = runs(event) + count
      while (!over.aborted && runs(event) < enough) await sleep(LOOK_MS)
    },
    overlaps: () => linesOf(join(bench, 'overlaps')),
    async struck() {
      const operations = await linesOf(join(bench, 'struck'))
      const acts = (await readdir(join(bench, 'acted'))).map((name) => name.replace(/^[\d-]+/, ''))
      return count([
        ...operations.map((operation) => `file ${operation}`),
        ...acts.map((act) => `enclave ${act}`),
      ])
    },
  }
}

export function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}
