import { computed, type ReadonlySignal } from '@preact/signals'
import type { Hex, Notice, OrderStatus } from '../../src/client/index.js'
import type { OrderQueries } from './orders.js'
import type { Placing } from './placing.js'
import { durationOf, keepTimes, type Mark, STAGES, type Stage, stageOf, withMark } from './stages.js'

/** How far the order is that this page places, or placed last. */
export interface Progress {
  readonly stage: Mark['stage']
  /** When it entered each stage, as far as this page saw it. */
  readonly marks: readonly Mark[]
  /** Null until the server's first answer. */
  readonly status: OrderStatus | null
  readonly error: unknown
  readonly notice: Notice | null
}

/** What is asked about an order. */
interface Asked {
  readonly status: Pick<OrderQueries['status'], 'value' | 'error'>
  readonly notice: Pick<OrderQueries['notice'], 'value'>
}

/** Null while there is no order. Marks are made while a component reads this: the list of toasts does on every screen. */
export function createProgress(
  { state }: Pick<Placing, 'state'>,
  orders: { of(orderId: Hex): Asked },
): ReadonlySignal<Progress | null> {
  let marks: readonly Mark[] = []
  return computed(() => {
    const { step, orderId } = state.value
    if (step === null && orderId === null) {
      marks = []
      return null
    }
    const queries = orderId === null ? null : orders.of(orderId)
    const status = queries?.status.value ?? null
    const stage = stageOf(step, status)
    const isFirst = marks.at(-1)?.stage !== stage
    marks = withMark(marks, { stage, at: Date.now() })
    if (isFirst && stage === 'done' && status !== null && wentStraight(status)) keepTimes(timesOf(marks))
    return {
      ...{ stage, marks, status },
      error: queries?.status.error ?? null,
      notice: queries?.notice.value ?? null,
    }
  })
}

/** An order that waited for the market, or was tried again, says nothing about the usual times. */
function wentStraight({ state, triggers }: OrderStatus): boolean {
  const [run, ...others] = triggers
  // The chain often has the settlement before the server has the run's end.
  return state === 'SETTLED' && others.length === 0 && (run?.outcome === 'settled' || run?.outcome === null)
}

function timesOf(marks: readonly Mark[]): Partial<Record<Stage, number>> {
  // The first stage lasts as long as its person takes.
  const seen = STAGES.filter((stage) => stage !== 'sign').flatMap((stage) => {
    const time = durationOf(stage, marks)
    return time === null ? [] : [[stage, time] as const]
  })
  return Object.fromEntries(seen)
}
