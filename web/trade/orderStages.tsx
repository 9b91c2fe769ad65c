import { useEffect, useRef } from 'preact/hooks'
import { hasEnded } from '../../src/protocol/api.js'
import { useAccount, useStore } from '../state/context.js'
import type { PricedOrder } from '../state/orders.js'
import type { Progress } from '../state/progress.js'
import { durationOf, rankOf, STAGES, type Stage, usualMs } from '../state/stages.js'
import { money } from '../words/format.js'
import { fillWords, noticeWords, orderTone, orderWords } from '../words/timeline.js'
import './orderStages.css'

const NAMES: Record<Stage, string> = {
  sign: 'Sign',
  escrow: 'Escrow',
  sealed: 'Sealed',
  enclave: 'Enclave',
  settled: 'Settled',
}

/** The stages of the order that was placed last: what is done and how long it took, what comes, and its result. */
export function OrderStages() {
  const { now } = useStore()
  const { progress: query, placing, orders } = useAccount()
  const progress = query.value
  const { orderId } = placing.state.value
  const placed = orders.listed.value.find((order) => order.orderId === orderId)
  const result = progress === null ? null : resultWords(progress, placed?.summary ?? null)
  const list = useRef<HTMLOListElement>(null)
  const isShown = progress !== null
  // On a phone they stand below the button that has just been pressed.
  useEffect(() => {
    if (isShown) list.current?.scrollIntoView({ block: 'nearest' })
  }, [isShown])
  if (progress === null) return null
  const { stage, status, error, notice } = progress
  const isRunning = stage !== 'done'
  const time = isRunning ? now.value : 0
  return (
    <>
      {/* Above the stages, which are in view, so that it is, too. */}
      <div role="status">
        {result === null ? null : (
          <p class={`box box-${orderTone(status, error, notice)}`} data-test="result">
            {result}
          </p>
        )}
      </div>
      <ol ref={list} class="stages" data-test="stages" data-stage={stage}>
        {STAGES.map((one) => {
          const place = placeOf(one, stage)
          const isEnd = one === 'settled' && !isRunning
          const look = isEnd ? `done stage-${orderTone(status, error, notice)}` : place
          return (
            <li key={one} class={`stage stage-${look}`} aria-current={place === 'now' ? 'step' : undefined}>
              <b>{isEnd ? orderWords(status, error, notice) : NAMES[one]}</b>{' '}
              <small>{timeWords(one, place, progress, time)}</small>
            </li>
          )
        })}
      </ol>
    </>
  )
}

/** The traded amount and its price, or why the order was refunded; null until that is known. */
function resultWords({ status, notice }: Progress, summary: PricedOrder | null): string | null {
  if (status === null || !hasEnded(status)) return null
  const fill = summary === null ? null : fillWords(summary)
  if (fill !== null) return `${fill}.`
  if (status.state !== 'REFUNDED' || notice === null) return null
  return status.amount ? `${noticeWords(notice)} ${money(status.amount)} USDC refunded.` : noticeWords(notice)
}

type Place = 'done' | 'now' | 'next'

function placeOf(stage: Stage, current: Progress['stage']): Place {
  if (rankOf(stage) < rankOf(current)) return 'done'
  return stage === current ? 'now' : 'next'
}

function timeWords(
  stage: Stage,
  place: Place,
  { marks, status, error, notice }: Progress,
  now: number,
): string {
  if (place === 'done') {
    const took = durationOf(stage, marks)
    return took === null ? '' : `${(took / 1_000).toFixed(1)} s`
  }
  const usual = stage === 'sign' ? 'in your wallet' : usualWords(usualMs(stage))
  if (place === 'next') return usual
  // It may wait for hours, or for its owner: then the time says less than the reason.
  if (status !== null && !isUnderWay(status)) return orderWords(status, error, notice)
  const begun = marks.at(-1)?.at ?? now
  const since = `${Math.max(0, Math.round((now - begun) / 1_000))} s`
  return usual === '' ? since : `${since}, ${usual}`
}

function usualWords(ms: number | null): string {
  return ms === null ? '' : `usually ${(ms / 1_000).toFixed(1)} s`
}

/** Whether the enclave has the order and no run has left it waiting. */
function isUnderWay({ receivedAt, triggers }: NonNullable<Progress['status']>): boolean {
  const outcome = triggers.at(-1)?.outcome ?? null
  return receivedAt !== null && outcome !== 'queued' && outcome !== 'placed'
}
