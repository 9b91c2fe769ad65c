import { z } from 'zod'
import { type Uptime, uptimeWithin } from '../support/times.js'
import { RESTART_BOUND_MS } from './settings.js'
import type { Word } from './word.js'

/** What came of the runs that were under way when the enclave was killed. */
export interface Deaths {
  /** Takes what the server says, line by line. */
  heard(line: string): void
  /** For when all orders have ended. @param uptimes of the server */
  judge(uptimes: readonly Uptime[]): Promise<Judgement>
}

interface Judgement {
  readonly violations: readonly string[]
  /** How often it was killed, how many runs that cut off, and how many of them the next boot said to be over. */
  readonly deaths: number
  readonly cutOff: number
  readonly restarted: number
  /** Milliseconds from the death until the server let the run's order go on, without those in which no server was up. */
  readonly medianMs: number
  readonly slowestMs: number
}

const endSchema = z.object({ msg: z.literal('enclave run ended'), runId: z.uuid() })

export function createDeaths(word: Word): Deaths {
  /** By runId, of `performance.now()`. */
  const endedAt = new Map<string, number>()
  return {
    heard(line) {
      if (!line.includes('enclave run ended')) return
      const { runId } = endSchema.parse(JSON.parse(line))
      if (!endedAt.has(runId)) endedAt.set(runId, performance.now())
    },
    async judge(uptimes) {
      const deaths = await word.deaths()
      const runs = deaths.flatMap(({ at, runs }) => runs.map((runId) => ({ at, to: endedAt.get(runId) })))
      const waits = runs
        .flatMap(({ at, to }) => (to === undefined ? [] : uptimeWithin(uptimes, { from: at, to })))
        .toSorted((a, b) => a - b)
      const endless = runs.length - waits.length
      const late = waits.filter((ms) => ms > RESTART_BOUND_MS)
      return {
        violations: [
          ...(endless > 0 ? [`${endless} runs of a killed enclave are not over`] : []),
          ...late.map((ms) => `a run of a killed enclave was over only after ${Math.round(ms)} ms`),
        ],
        deaths: deaths.length,
        cutOff: runs.length,
        restarted: word.runs('restarted'),
        medianMs: Math.round(waits[Math.floor(waits.length / 2)] ?? 0),
        slowestMs: Math.round(waits.at(-1) ?? 0),
      }
    },
  }
}
