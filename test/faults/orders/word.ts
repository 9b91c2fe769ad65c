import { statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** What the processes have left word of. */
export interface Word {
  /** Runs that have begun, have ended by themselves, or were said to be over by a later boot of the enclave. */
  runs(event: 'started' | 'ended' | 'restarted'): number
  /** Resolves when so many more have. */
  further(event: 'started' | 'ended', count: number, over: AbortSignal): Promise<void>
  /** Runs that the enclave was offered beside another one of their account. */
  overlaps(): Promise<string[]>
  /** How often the enclave was killed: when, of `performance.now()`, and during which runs. */
  deaths(): Promise<{ readonly at: number; readonly runs: readonly string[] }[]>
  /** By kind: how often a store failed, and what became of the enclave. */
  struck(): Promise<Record<string, number>>
}

const LOOK_MS = 5
const deathSchema = z.object({ at: z.number(), runs: z.array(z.string()) })

export function createWord(bench: string): Word {
  const runs = (event: string) => statSync(join(bench, event), { throwIfNoEntry: false })?.size ?? 0
  return {
    runs,
    async further(event, count, over) {
      const enough = runs(event) + count
      while (!over.aborted && runs(event) < enough) await sleep(LOOK_MS)
    },
    overlaps: () => linesOf(join(bench, 'overlaps')),
    async deaths() {
      const deaths = (await linesOf(join(bench, 'deaths'))).map((line) => deathSchema.parse(JSON.parse(line)))
      return deaths.map(({ at, runs }) => ({ at: at - performance.timeOrigin, runs }))
    },
    async struck() {
      const failures = await linesOf(join(bench, 'struck'))
      const acts = (await readdir(join(bench, 'acted'))).map((name) => name.replace(/^[\d-]+/, ''))
      return count([...failures.map((kind) => `store ${kind}`), ...acts.map((act) => `enclave ${act}`)])
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
