import type { EscrowedOrder } from '../../chain/contracts.js'
import type { OrderReceived } from '../../protocol/api.js'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import {
  type Candidate,
  emptyOrderRecord,
  MAX_CANDIDATES,
  matchingCandidate,
  type OrderRecord,
} from '../store/orderRecords.js'
import type { NoRoom } from '../trigger/envelopeQuota.js'

/** The escrow as far as it is known; `unknown` when the chain can't be asked. */
export type EscrowKnowledge = Pick<EscrowedOrder, 'state' | 'commit'> | 'unknown'

/** The stored one with the same four fields. */
function findIdentical(record: OrderRecord, offered: Envelope): Candidate | undefined {
  return record.candidates.find(
    ({ envelope }) =>
      envelope.ct === offered.ct &&
      envelope.iv === offered.iv &&
      envelope.tag === offered.tag &&
      envelope.epk === offered.epk,
  )
}

/** The outcome for a posted envelope. */
export interface Reception {
  /** The record from now on: the very same object when nothing changes. */
  readonly record: OrderRecord | undefined
  readonly answer:
    | OrderReceived
    /** The chain has to be asked first. */
    | 'ask-chain'
    /** No further envelope without an escrow may be stored: of any client, or of this one. */
    | NoRoom
    /** There is no room, and only the chain could tell which envelope to keep. */
    | 'undecided'
}

/**
 * Decides what becomes of a posted envelope; the caller writes the record. Anyone can read an orderId on the chain and post junk under it before
 * its owner does. So the escrow's commit decides, and not the first post. Pure.
 */
export function decideEnvelope(posted: {
  readonly orderId: Hex
  /** The stored record of the order, if any. */
  readonly current: OrderRecord | undefined
  readonly offered: Candidate
  /** The order's escrow, as far as it is known. */
  readonly escrow: EscrowKnowledge | undefined
  /** Why the envelope may not be stored unless its escrow is open, if it may not. */
  readonly refusal: NoRoom | undefined
}): Reception {
  const { orderId, current, offered, escrow, refusal } = posted
  const record = current ?? emptyOrderRecord(orderId)
  const unchanged = (answer: Reception['answer']): Reception => ({ record: current, answer })
  /** Not kept; the answer names the commit of the one that is. */
  const keep = (stored: Candidate) => unchanged(answerOf(orderId, 'already-received', stored))
  const store = (others: readonly Candidate[]): Reception => ({
    record: { ...record, candidates: [...others, offered] },
    answer: answerOf(orderId, 'received', offered),
  })
  const identical = findIdentical(record, offered.envelope)
  if (identical !== undefined) return keep(identical)
  const isRefused = refusal !== undefined && !isOpen(escrow)
  const known = escrow ?? seenEscrow(record)
  if (known === undefined) return current === undefined && !isRefused ? store([]) : unchanged('ask-chain')
  const commit = known === 'unknown' || known.state === 'NONE' ? record.escrowCommit : known.commit
  const match = commit === null ? undefined : matchingCandidate(record, commit)
  if (match !== undefined) return keep(match)
  const [first] = record.candidates
  if (first !== undefined && commit !== null) {
    const mayReplace = known === 'unknown' || known.state === 'OPEN' || known.state === 'NONE'
    return offered.commit === commit && mayReplace ? store([]) : keep(first)
  }
  // The first envelope of the orderId is kept, whatever state the escrow is in.
  if (first === undefined || record.candidates.length < MAX_CANDIDATES)
    return isRefused ? unchanged(refusal) : store(record.candidates)
  return known === 'unknown' ? unchanged('undecided') : keep(first)
}

/** The escrow that an earlier run has seen, if that run's envelope is stored: no other can replace it. */
function seenEscrow(record: OrderRecord): EscrowKnowledge | undefined {
  const commit = record.escrowCommit
  if (commit === null || matchingCandidate(record, commit) === undefined) return undefined
  return { state: 'OPEN', commit }
}

export function isOpen(escrow: EscrowKnowledge | undefined): boolean {
  return escrow !== undefined && escrow !== 'unknown' && escrow.state === 'OPEN'
}

export function answerOf(
  orderId: Hex,
  result: OrderReceived['result'],
  { commit, receivedAt }: Pick<Candidate, 'commit' | 'receivedAt'>,
): OrderReceived {
  return { orderId, result, commit, receivedAt }
}
