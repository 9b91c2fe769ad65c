// How long the stages of this browser's last orders took. A chain's blocks and a platform's load differ too much for a
// constant.
import * as z from 'zod'
import { STAGES, type Stage } from './stages.js'

const NAME = 'desk:stage-times'
/** Orders that the median is taken of. */
const KEPT = 9

const timesSchema = z.partialRecord(z.enum(STAGES), z.array(z.number().min(0)))
type Times = z.output<typeof timesSchema>

/** The median of a stage's last times in milliseconds; null before the first. */
export function usualMs(stage: Stage): number | null {
  const sorted = (read()[stage] ?? []).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

/** Keeps the times of one order. */
export function keepTimes(times: Partial<Record<Stage, number>>): void {
  const before = read()
  const kept = STAGES.map((stage) => {
    const time = times[stage]
    return [stage, [...(time === undefined ? [] : [time]), ...(before[stage] ?? [])].slice(0, KEPT)] as const
  })
  localStorage.setItem(NAME, JSON.stringify(Object.fromEntries(kept)))
}

function read(): Times {
  try {
    return timesSchema.parse(JSON.parse(localStorage.getItem(NAME) ?? '{}'))
  } catch {
    return {}
  }
}
