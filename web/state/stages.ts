import * as z from 'zod/mini'
import type { OrderStatus, PlaceStep } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'

/** The stages of an order, in order. */
export const STAGES = ['sign', 'escrow', 'sealed', 'enclave', 'settled'] as const
export type Stage = (typeof STAGES)[number]

/** When an order entered a stage, in Unix milliseconds. */
export interface Mark {
  readonly stage: Stage | 'done'
  readonly at: number
}

const STAGE_OF: Record<PlaceStep, Stage> = {
  unlocking: 'sign',
  signing: 'sign',
  authorizing: 'sign',
  approving: 'escrow',
  opening: 'escrow',
  submitting: 'sealed',
}

/** The stage that an order is in; `done` once it has ended. */
export function stageOf(
  step: PlaceStep | null,
  status: Pick<OrderStatus, 'state' | 'receivedAt' | 'triggers'> | null,
): Mark['stage'] {
  if (step !== null) return STAGE_OF[step]
  if (status === null) return 'sealed'
  if (hasEnded(status)) return 'done'
  const outcome = status.triggers.at(-1)?.outcome
  if (outcome === 'settled' || outcome === 'refunded') return 'settled'
  return status.receivedAt === null ? 'sealed' : 'enclave'
}

/** The place of a stage in the order of stages. */
export function rankOf(stage: Mark['stage']): number {
  return stage === 'done' ? STAGES.length : STAGES.indexOf(stage)
}

/** The marks with one more. An earlier stage than the last one begins another order. */
export function withMark(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  const last = marks.at(-1)
  if (last?.stage === mark.stage) return marks
  return last !== undefined && rankOf(mark.stage) < rankOf(last.stage) ? [mark] : [...marks, mark]
}

/** How long a stage took in milliseconds; null if its beginning or its end was not seen. */
export function durationOf(stage: Stage, marks: readonly Mark[]): number | null {
  const index = marks.findIndex((mark) => mark.stage === stage)
  const [begun, ended] = [marks[index], marks[index + 1]]
  return begun === undefined || ended === undefined ? null : ended.at - begun.at
}

// How long the stages of this browser's last orders took. A chain's blocks and a platform's load differ too much for a
// constant.
const NAME = 'desk:stage-times'
/** Orders that the median is taken of. */
const KEPT = 9

const timesSchema = z.partialRecord(z.enum(STAGES), z.array(z.number().check(z.minimum(0))))
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
