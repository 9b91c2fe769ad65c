import type { OrderReceived } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'
import {
  type Candidate,
  emptyOrderRecord,
  matchingCandidate,
  type OrderRecord,
} from '../store/orderRecords.js'
import { decideEnvelope, type EscrowKnowledge, findIdentical } from './envelopeDecision.js'

/** What becomes of an envelope that was posted. */
export interface Reception {
  /** What is stored from now on: the very same object when nothing changes. */
  readonly record: OrderRecord | undefined
  readonly answer:
    | OrderReceived
    /** The chain has to be asked first. */
    | 'ask-chain'
    /** No further order without an escrow may be stored. */
    | 'full'
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
  /** Whether another order may be stored whose escrow is not known to be open. */
  readonly hasRoom: boolean
}

/** Takes a posted envelope in, or says why not. Pure. */
export function receive({ orderId, current, offered, escrow, hasRoom }: Offer): Reception {
  if (current === undefined && (hasRoom || isOpen(escrow))) {
    const record = { ...emptyOrderRecord(orderId), candidates: [offered] }
    return { record, answer: answerOf(orderId, 'received', offered) }
  }
  const identical = findIdentical(current, offered.envelope)
  if (identical !== undefined) {
    return { record: current, answer: answerOf(orderId, 'already-received', identical) }
  }
  const known = escrow ?? seenEscrow(current)
  if (known === undefined) return { record: current, answer: 'ask-chain' }
  if (current === undefined) return { record: current, answer: 'full' }
  return place(current, offered, known)
}

function place(record: OrderRecord, offered: Candidate, escrow: EscrowKnowledge): Reception {
  const { orderId, candidates } = record
  const decision = decideEnvelope(record, offered.commit, escrow)
  if (decision === 'undecided') return { record, answer: 'undecided' }
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
