import type { OrderReceived } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import {
  type Candidate,
  emptyOrderRecord,
  matchingCandidate,
  type OrderRecord,
} from '../store/orderRecords.js'
import type { NoRoom } from '../trigger/envelopeQuota.js'
import { decideEnvelope, type EscrowKnowledge, findIdentical } from './envelopeDecision.js'

/** What becomes of an envelope that was posted. */
export interface Reception {
  /** What is stored from now on: the very same object when nothing changes. */
  readonly record: OrderRecord | undefined
  readonly answer:
    | OrderReceived
    /** The chain has to be asked first. */
    | 'ask-chain'
    /** No further envelope without an escrow may be stored: of anybody, or of this client. */
    | NoRoom
    /** There is no room, and only the chain could tell which envelope to keep. */
    | 'undecided'
}

export interface Offer {
  readonly orderId: Hex
  /** What is stored of the order, if anything. */
  readonly current: OrderRecord | undefined
  readonly offered: Candidate
  /** The order's escrow, as far as it is known. */
  readonly escrow: EscrowKnowledge | undefined
  /** Why the envelope may not be stored unless its escrow is open, if it may not. */
  readonly refusal: NoRoom | undefined
}

/** Takes a posted envelope in, or says why not. Pure. */
export function receive({ orderId, current, offered, escrow, refusal }: Offer): Reception {
  if (current === undefined) {
    if (refusal !== undefined && !isOpen(escrow)) {
      return { record: undefined, answer: escrow === undefined ? 'ask-chain' : refusal }
    }
    const record = { ...emptyOrderRecord(orderId), candidates: [offered] }
    return { record, answer: answerOf(orderId, 'received', offered) }
  }
  const identical = findIdentical(current, offered.envelope)
  if (identical !== undefined) {
    return { record: current, answer: answerOf(orderId, 'already-received', identical) }
  }
  const known = escrow ?? seenEscrow(current)
  if (known === undefined) return { record: current, answer: 'ask-chain' }
  return place(current, offered, known, refusal)
}

function place(
  record: OrderRecord,
  offered: Candidate,
  escrow: EscrowKnowledge,
  refusal: NoRoom | undefined,
): Reception {
  const { orderId, candidates } = record
  const decision = decideEnvelope(record, offered.commit, escrow)
  if (decision === 'undecided') return { record, answer: 'undecided' }
  if (decision === 'add' && refusal !== undefined && !isOpen(escrow)) return { record, answer: refusal }
  if (decision === 'add' || decision === 'replace') {
    const others = decision === 'add' ? candidates : []
    const answer = answerOf(orderId, 'received', offered)
    return { record: { ...record, candidates: [...others, offered] }, answer }
  }
  const kept = matchingCandidate(record, decision.kept) ?? offered
  return { record, answer: answerOf(orderId, 'already-received', kept) }
}

/** What an earlier run has seen, when the envelope that it was given is stored: no other can take its place. */
function seenEscrow(record: OrderRecord | undefined): EscrowKnowledge | undefined {
  const commit = record?.escrowCommit ?? null
  if (commit === null || matchingCandidate(record, commit) === undefined) return undefined
  return { state: 'OPEN', commit }
}

export function isOpen(escrow: EscrowKnowledge | undefined): boolean {
  return escrow !== undefined && escrow !== 'unknown' && escrow.state === 'OPEN'
}

function answerOf(orderId: Hex, result: OrderReceived['result'], stored: Candidate): OrderReceived {
  return { orderId, result, commit: stored.commit, receivedAt: stored.receivedAt }
}
