// The storm and the processes in it leave each other notes, as files in one directory.
import { statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Uptime, uptimeWithin } from '../engine/serverProcess.js'
import { count } from '../engine/storm.js'
import type { PlannedAct } from './plan.js'

/** The notes of the processes, and those for them. */
export interface Notes {
  /** Counts runs that have begun, have ended by themselves, or were reported as over by a later boot of the enclave. */
  runs(event: 'started' | 'ended' | 'restarted'): number
  /** Resolves after so many more runs, or kills of the enclave. */
  further(event: 'started' | 'ended' | 'killed', count: number, over: AbortSignal): Promise<void>
  /** Lists runs that the enclave was offered beside another one of their account. */
  overlaps(): Promise<string[]>
  /** Lists the kills of the enclave, and the runs under way. Times are by `performance.now()`. */
  deaths(): Promise<Death[]>
  /** Lists the runs of orders that the enclave has accepted, with the time by `performance.now()`. */
  jobs(): Promise<AcceptedJob[]>
  /** Counts failures of stores, and kills and stops of the enclave, by kind. */
  struck(): Promise<Record<string, number>>
  /** Lets the enclave be killed or stopped so, each once. */
  order(acts: readonly PlannedAct[]): Promise<void>
  /** Takes back all acts that are left. */
  takeBack(): Promise<void>
  /** Sets the clock of server and enclave. */
  setClock(aheadMs: number): Promise<void>
}

const jobSchema = z.object({ at: z.number(), runId: z.string(), orderId: z.string(), hasCancel: z.boolean() })
export type AcceptedJob = z.output<typeof jobSchema>

const LOOK_MS = 5
const DIGITS = 4
const runSchema = z.object({
  runId: z.string(),
  job: z.string(),
  orderId: z.string().optional(),
  startedAt: z.number(),
})
const deathSchema = z.object({ at: z.number(), runs: z.array(runSchema) })
type Death = z.output<typeof deathSchema>

export function createNotes(bench: string): Notes {
  const countOf = (event: string) => statSync(join(bench, event), { throwIfNoEntry: false })?.size ?? 0
  let acts = 0
  return {
    runs: countOf,
    async further(event, count, over) {
      const enough = countOf(event) + count
      while (!over.aborted && countOf(event) < enough) await sleep(LOOK_MS)
    },
    overlaps: () => linesOf(join(bench, 'overlaps')),
    async deaths() {
      const deaths = (await linesOf(join(bench, 'deaths'))).map((line) => deathSchema.parse(JSON.parse(line)))
      return deaths.map(({ at, runs }) => ({
        at: at - performance.timeOrigin,
        runs: runs.map((run) => ({ ...run, startedAt: run.startedAt - performance.timeOrigin })),
      }))
    },
    async jobs() {
      const jobs = (await linesOf(join(bench, 'jobs'))).map((line) => jobSchema.parse(JSON.parse(line)))
      return jobs.map(({ at, ...job }) => ({ ...job, at: at - performance.timeOrigin }))
    },
    async struck() {
      const failures = await linesOf(join(bench, 'struck'))
      const acted = (await readdir(join(bench, 'acted'))).map((name) => name.replace(/^[\d-]+/, ''))
      return count([...failures.map((kind) => `store ${kind}`), ...acted.map((act) => `enclave ${act}`)])
    },
    async order(planned) {
      for (const act of planned) {
        const kind = `${act.stopMs > 0 ? 'stopped' : 'killed'}-at-${act.step}`
        const name = `${String(acts++).padStart(DIGITS, '0')}-${kind}`
        // A rename lets it appear whole or not at all.
        await writeFile(join(bench, name), JSON.stringify(act))
        await rename(join(bench, name), join(bench, 'acts', name))
      }
    },
    async takeBack() {
      const planned = join(bench, 'acts')
      for (const name of await readdir(planned)) await rm(join(planned, name), { force: true })
    },
    setClock: (aheadMs) => writeFile(join(bench, 'clock'), `${aheadMs}`),
  }
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

/**
 * How long the run of a killed enclave may count as under way while a server is up. The server starts the enclave again
 * within five seconds, and the enclave repeats its post within fifteen. The rest is for a machine that others use.
 */
export const RESTART_BOUND_MS = 30_000

const endSchema = z.object({ msg: z.literal('enclave run ended'), runId: z.uuid() })

/** Follows the runs that were under way when the enclave was killed. */
export function createDeaths(notes: Notes) {
  /** By runId, readings of `performance.now()`. */
  const endedAt = new Map<string, number>()

  async function runsCutOff() {
    const deaths = await notes.deaths()
    return deaths.flatMap(({ at, runs }) => runs.map((run) => ({ ...run, at, to: endedAt.get(run.runId) })))
  }

  return {
    /** Takes the server's log, line by line. */
    heard(line: string): void {
      if (!line.includes('enclave run ended')) return
      const { runId } = endSchema.parse(JSON.parse(line))
      if (!endedAt.has(runId)) endedAt.set(runId, performance.now())
    },
    /**
     * Lists the runs that are not over. That of a rulebook is followed only by the server that started it.
     * @param uptimes those of the server, which is up
     */
    async unended(uptimes: readonly Uptime[]): Promise<string[]> {
      const upSince = uptimes.at(-1)?.from ?? Number.POSITIVE_INFINITY
      return (await runsCutOff())
        .filter(({ to, job, startedAt }) => to === undefined && (job !== 'policy' || startedAt >= upSince))
        .map(({ job, orderId }) => `the run of ${orderId ?? `a ${job}`} in a killed enclave is not over`)
    },
    /** Judges how long the others took. @param uptimes those of the server */
    async judge(uptimes: readonly Uptime[]) {
      const [deaths, runs] = await Promise.all([notes.deaths(), runsCutOff()])
      const waits = runs
        .flatMap(({ at, to }) => (to === undefined ? [] : uptimeWithin(uptimes, { from: at, to })))
        .toSorted((a, b) => a - b)
      const late = waits.filter((ms) => ms > RESTART_BOUND_MS)
      return {
        violations: late.map((ms) => `a run of a killed enclave was over only after ${Math.round(ms)} ms`),
        figures: {
          deaths: deaths.length,
          /** Runs under way at the kills, and how many of them the next boot reported as over. */
          cutOff: runs.length,
          restarted: notes.runs('restarted'),
          /** From the kill until the server let the run's order go on, without the time in which no server was up. */
          medianMs: Math.round(waits[Math.floor(waits.length / 2)] ?? 0),
          slowestMs: Math.round(waits.at(-1) ?? 0),
        },
      }
    },
  }
}
