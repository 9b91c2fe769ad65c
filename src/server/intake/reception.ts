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

/** The decision on an envelope. */
type Decision =
  /** Kept besides the others. */
  | 'add'
  /** Takes the place of all others. */
  | 'replace'
  /** Not kept; the answer names the commit of the one that is. */
  | { readonly kept: Hex }
  /** There is no room, and the chain can't tell which one to keep. */
  | 'undecided'

/** The stored one with the same four fields. */
function findIdentical(record: OrderRecord | undefined, offered: Envelope): Candidate | undefined {
  return record?.candidates.find(
    ({ envelope }) =>
      envelope.ct === offered.ct &&
      envelope.iv === offered.iv &&
      envelope.tag === offered.tag &&
      envelope.epk === offered.epk,
  )
}

/**
 * Anyone can read an orderId on the chain and post junk under it before its owner does. So the escrow's commit decides, and not
 * the first post.
 *
 * @param offered commit of an envelope that is not stored
 */
export function decideEnvelope(record: OrderRecord, offered: Hex, escrow: EscrowKnowledge): Decision {
  const [first] = record.candidates
  const hasRoom = record.candidates.length < MAX_CANDIDATES
  const commit = escrow === 'unknown' || escrow.state === 'NONE' ? record.escrowCommit : escrow.commit
  const match = commit === null ? undefined : matchingCandidate(record, commit)
  if (match !== undefined) return { kept: match.commit }
  // The first envelope of the orderId is kept, whatever state the escrow is in.
  if (first === undefined) return 'add'
  if (commit !== null) {
    const isWanted = offered === commit && (escrow === 'unknown' || isOpenOrUnopened(escrow.state))
    return isWanted ? 'replace' : { kept: first.commit }
  }
  if (hasRoom) return 'add'
  return escrow === 'unknown' ? 'undecided' : { kept: first.commit }
}

function isOpenOrUnopened(state: EscrowedOrder['state']): boolean {
  return state === 'OPEN' || state === 'NONE'
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

interface PostedEnvelope {
  readonly orderId: Hex
  /** The stored record of the order, if any. */
  readonly current: OrderRecord | undefined
  readonly offered: Candidate
  /** The order's escrow, as far as it is known. */
  readonly escrow: EscrowKnowledge | undefined
  /** Why the envelope may not be stored unless its escrow is open, if it may not. */
  readonly refusal: NoRoom | undefined
}

/** Takes a posted envelope in, or says why not. Pure. */
export function receive({ orderId, current, offered, escrow, refusal }: PostedEnvelope): Reception {
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

/** The escrow that an earlier run has seen, if that run's envelope is stored: no other can take its place. */
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
