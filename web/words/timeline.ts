import type { OrderSummary } from '../../src/client/history.js'
import type { Notice, OrderStatus, TimelineEntry } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'
import { isOfWait } from '../../src/protocol/notice.js'
import { revertWords } from './contractWords.js'
import { failureOf, isUnknownOrder } from './failures.js'
import { money, shares, shortHex, timeOfDay } from './format.js'

/** One entry of an order's timeline in words. */
export function entryWords(entry: TimelineEntry): string {
  switch (entry.kind) {
    case 'received':
      return 'Server received the sealed order'
    case 'opening':
      return openingWords(entry)
    case 'cancel-received':
      return 'Server received your cancellation'
    case 'triggered':
      return `Enclave started run ${entry.attempt}`
    case 'outcome':
      return `Run ${entry.attempt} ended: ${entry.waitsFor ? WAITS[entry.waitsFor] : OUTCOMES[entry.outcome]}`
    case 'relayed':
      return `Relay received the enclave’s decision: ${entry.status}`
    case 'transaction':
      return `Transaction ${shortHex(entry.txHash)}: ${entry.status}`
    case 'opened':
      return 'Escrow opened on the chain'
    case 'settled':
      return 'Settled on the chain'
    case 'refunded':
      return 'Refunded on the chain'
    case 'reclaimed':
      return 'Reclaimed from the escrow'
  }
}

function openingWords({ status, error }: NonNullable<OrderStatus['opening']>): string {
  if (status !== 'failed') return `Platform opens the escrow for you: ${status}`
  return `Platform could not open the escrow: ${revertWords(error)[0]}`
}

const OUTCOMES: Record<Extract<TimelineEntry, { kind: 'outcome' }>['outcome'], string> = {
  settled: 'settled',
  refunded: 'refused',
  placed: 'at the broker, not filled yet',
  queued: 'waiting, the enclave tries again by itself',
  rejected: 'the envelope is not this order’s',
  accepted: 'accepted',
  done: 'done',
  failed: 'failed, the server tries again',
}

const WAITS: Record<WaitReason, string> = {
  'market-closed': 'waiting for the market to open',
  paused: 'waiting for the end of a pause',
  'relay-quota-exhausted': 'your gas quota for today is used up; continues at midnight UTC',
  'relay-budget-exhausted': 'the platform’s gas budget for today is used up; continues at midnight UTC',
  'broker-rate-limit': 'waiting for the broker’s rate limit',
  'broker-turn': 'waiting for its turn at the broker',
  'chain-depth': 'waiting for the chain’s confirmations',
  'actions-unknown': 'waiting until the broker says whether a corporate action changes the shares',
}

const SHORT_WAITS: Record<WaitReason, string> = {
  'market-closed': 'Waiting for the market',
  paused: 'Trading is paused',
  'relay-quota-exhausted': 'Waiting for tomorrow',
  'relay-budget-exhausted': 'Waiting for tomorrow',
  'broker-rate-limit': 'Waiting for its turn',
  'broker-turn': 'Waiting for its turn',
  'chain-depth': 'Waiting for the chain',
  'actions-unknown': 'Waiting for the broker',
}

/** The state of an order in two or three words; without an answer, the reason. */
export function orderWords(
  status: Stated | null,
  error: unknown,
  notice: Pick<Notice, 'code'> | null,
): string {
  if (status !== null) return stateWords(status, notice)
  return error === null || isUnknownOrder(error) ? 'Sealed' : failureOf(error).title
}

/** How an order's state is coloured: it waits, it needs a look, it failed, it is done, or its owner cancelled it. */
export type Tone = 'wait' | 'warn' | 'bad' | 'good' | 'plain'

export function orderTone(status: Stated | null, error: unknown, notice: Pick<Notice, 'code'> | null): Tone {
  if (status === null) return error === null || isUnknownOrder(error) ? 'wait' : 'warn'
  if (status.state === 'SETTLED') return 'good'
  if (status.state === 'REFUNDED') return REFUND_TONES[refundWords(notice)]
  const words = stateWords(status, notice)
  if (words === NOT_OPENED) return 'bad'
  return words === NOT_SUBMITTED ? 'warn' : 'wait'
}

type WaitReason = NonNullable<OrderStatus['triggers'][number]['waitsFor']>
type Stated = Pick<OrderStatus, 'state' | 'triggers' | 'receivedAt' | 'cancelReceivedAt' | 'opening'>

const NOT_SUBMITTED = 'Not submitted'
const NOT_OPENED = 'Not opened'
/** Notices that are no refusal: the order expired. */
const NOT_IN_TIME = new Set(['expired', 'closed-until-deadline', 'expired-at-close', 'deadline-passed'])
const REFUND_TONES = { Cancelled: 'plain', Expired: 'warn', Refunded: 'warn', Refused: 'bad' } as const

/** An order's activity in two or three words. `notice` is the reason of its refund, if known. */
export function stateWords(status: Stated, notice: Pick<Notice, 'code'> | null): string {
  if (status.state === 'SETTLED') return 'Settled'
  if (status.state === 'REFUNDED') return refundWords(notice)
  if (status.cancelReceivedAt !== undefined) return 'Cancelling'
  if (status.opening !== undefined) return status.opening.status === 'failed' ? NOT_OPENED : 'Opening'
  const { outcome, waitsFor } = status.triggers.at(-1) ?? {}
  if (waitsFor !== undefined) return SHORT_WAITS[waitsFor]
  // Takes precedence: the enclave continues with an order that it has recorded, even if the server has lost the
  // envelope.
  if (outcome === 'queued') return 'Waiting'
  if (outcome === 'placed') return 'At the broker'
  if (outcome === 'failed') return 'Trying again'
  return status.receivedAt === null ? NOT_SUBMITTED : 'In progress'
}

/** The chain alone does not distinguish a refusal from a reclaimed order. */
function refundWords(notice: Pick<Notice, 'code'> | null): keyof typeof REFUND_TONES {
  if (notice === null || notice.code === 'not-placed') return 'Refunded'
  if (notice.code === 'cancelled') return 'Cancelled'
  return NOT_IN_TIME.has(notice.code) ? 'Expired' : 'Refused'
}

/** After so many runs in a row that failed, some three minutes, the reason is hardly one that passes by itself. */
const STUCK_FAILURES = 7

/**
 * For an order that a run has left open: until when it is good, and when it is tried next. Null while a run is under way,
 * and once the account has cancelled it.
 */
export function waitingWords(
  { state, deadline, triggers, nextTriggerAt, cancelReceivedAt }: Waiting,
  now: Date,
): string | null {
  const { outcome, finishedAt } = triggers.at(-1) ?? {}
  const isLeftOpen = typeof finishedAt === 'string' && outcome !== 'settled' && outcome !== 'refunded'
  if (state !== 'OPEN' || deadline === null || !isLeftOpen || cancelReceivedAt !== undefined) return null
  const next = nextTriggerAt === null ? 'again' : `again at ${timeOfDay(nextTriggerAt, now)}`
  const failures = triggers.length - 1 - triggers.findLastIndex((run) => run.outcome !== 'failed')
  if (failures >= STUCK_FAILURES)
    return `The enclave could not carry it out ${failures} times: the server tries ${next}. If that goes on, tell the platform’s operator the order’s number: its owner can end it.`
  if (outcome === 'failed')
    return `The enclave did not answer, or could not carry it out: the server tries ${next}, and you need do nothing.`
  const good = `Good until ${timeOfDay(deadline, now)}.`
  return nextTriggerAt === null ? good : `${good} Next attempt at ${timeOfDay(nextTriggerAt, now)}.`
}

type Waiting = Pick<OrderStatus, 'state' | 'deadline' | 'triggers' | 'nextTriggerAt' | 'cancelReceivedAt'>

/** Why an open order waits for its turn, and how many are ahead of it; null for every other order, and until the notice is opened. */
export function turnWords(
  status: Pick<OrderStatus, 'state'>,
  notice: Pick<Notice, 'code' | 'message'> | null,
): string | null {
  return notice === null || hasEnded(status) || !isOfWait(notice.code) ? null : noticeWords(notice)
}

/** A notice as a complete sentence. */
export function noticeWords({ message }: Pick<Notice, 'message'>): string {
  return message.endsWith('.') ? message : `${message}.`
}

const VERBS = { BUY: 'Bought', SELL: 'Sold' }

/**
 * `Bought 4.7217 AAPL at 211.79, 1,000.00 USDC`; null for an order without a fill. A sale's USDC are net of fees. Shares and price are those
 * of its day; a price from before a split is told in the shares of today too.
 */
export function fillWords({ side, symbol, shares: filled, price, adjusted, value }: Filled): string | null {
  if ((side !== 'BUY' && side !== 'SELL') || symbol === null) return null
  if (filled === null || price === null || value === null) return null
  const today = adjusted === null || adjusted === price ? '' : ` (${money(adjusted)} in today’s shares)`
  return `${VERBS[side]} ${shares(filled)} ${symbol} at ${money(price)}${today}, ${money(value)} USDC`
}

interface Filled extends Pick<OrderSummary, 'side' | 'symbol' | 'shares' | 'price' | 'value'> {
  readonly adjusted: bigint | null
}
