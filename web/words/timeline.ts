import type { Notice, OrderStatus, TimelineEntry } from '../../src/client/index.js'
import { failureOf, isUnknownOrder } from './failures.js'
import { shortHex } from './format.js'

/** One entry of an order's timeline in words. */
export function entryWords(entry: TimelineEntry): string {
  switch (entry.kind) {
    case 'received':
      return 'The server has the sealed order'
    case 'triggered':
      return `The enclave began run ${entry.attempt}`
    case 'outcome':
      return `Run ${entry.attempt} ended: ${entry.waitsFor ? WAITS[entry.waitsFor] : OUTCOMES[entry.outcome]}`
    case 'relayed':
      return `The relay has the enclave’s decision: ${entry.status}`
    case 'transaction':
      return `Transaction ${shortHex(entry.txHash)}: ${entry.status}`
    case 'opened':
      return 'The escrow is open on the chain'
    case 'settled':
      return 'Settled on the chain'
    case 'refunded':
      return 'Given back on the chain'
    case 'reclaimed':
      return 'Taken back from the escrow'
  }
}

const OUTCOMES: Record<Extract<TimelineEntry, { kind: 'outcome' }>['outcome'], string> = {
  settled: 'settled',
  refunded: 'refused',
  placed: 'at the market, not filled yet',
  queued: 'waiting for the market',
  rejected: 'not this order’s envelope',
  accepted: 'accepted',
  done: 'done',
  failed: 'failed, it will be tried again',
}

const WAITS: Record<WaitReason, string> = {
  'market-closed': 'waiting for the market to open',
  paused: 'waiting for the end of a pause',
  'relay-quota-exhausted': 'your gas of today is used up, it goes on at midnight UTC',
  'relay-budget-exhausted': 'the platform’s gas of today is used up, it goes on at midnight UTC',
  'broker-rate-limit': 'waiting for the broker’s rate limit',
  'chain-depth': 'waiting until the chain has confirmed it',
}

const SHORT_WAITS: Record<WaitReason, string> = {
  'market-closed': 'Waiting for the market',
  paused: 'Trading is paused',
  'relay-quota-exhausted': 'Waiting for tomorrow',
  'relay-budget-exhausted': 'Waiting for tomorrow',
  'broker-rate-limit': 'Waiting for its turn',
  'chain-depth': 'Waiting for the chain',
}

/** The state of an order in two or three words; while it was not answered, why it was not. */
export function orderWords(
  status: Stated | null,
  error: unknown,
  notice: Pick<Notice, 'code'> | null,
): string {
  if (status !== null) return stateWords(status, notice)
  return error === null || isUnknownOrder(error) ? 'Sealed' : failureOf(error).title
}

type WaitReason = NonNullable<OrderStatus['triggers'][number]['waitsFor']>
type Stated = Pick<OrderStatus, 'state' | 'triggers' | 'receivedAt'>

/** Notices that refuse nothing: the order's time was over, or it was called off. */
const NOT_IN_TIME = new Set(['expired', 'closed-until-deadline', 'expired-at-close', 'deadline-passed'])
const CALLED_OFF = new Set(['cancelled', 'not-placed'])

/** What an order is doing, in two or three words. `notice` is why it was given back, where that is known. */
export function stateWords(status: Stated, notice: Pick<Notice, 'code'> | null): string {
  if (status.state === 'SETTLED') return 'Settled'
  if (status.state === 'REFUNDED') return refundWords(notice)
  const { outcome, waitsFor } = status.triggers.at(-1) ?? {}
  if (waitsFor !== undefined) return SHORT_WAITS[waitsFor]
  // Said first: the enclave goes on with an order that it has noted, also when the server has lost the envelope.
  if (outcome === 'queued') return 'Waiting for the market'
  if (outcome === 'placed') return 'At the market'
  return status.receivedAt === null ? 'Not submitted' : 'Under way'
}

/** The chain alone does not tell a refusal from an order that was taken back. */
function refundWords(notice: Pick<Notice, 'code'> | null): string {
  if (notice === null || CALLED_OFF.has(notice.code)) return 'Given back'
  return NOT_IN_TIME.has(notice.code) ? 'Not done in time' : 'Refused'
}

/** A notice as a sentence of its own. */
export function noticeWords({ message }: Pick<Notice, 'message'>): string {
  return message.endsWith('.') ? message : `${message}.`
}
