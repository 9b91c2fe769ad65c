import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Envelope } from '../../protocol/envelope.js'
import type { Hex } from '../../protocol/hex.js'
import { type Candidate, MAX_CANDIDATES, matchingCandidate, type OrderRecord } from '../store/orderRecords.js'

/** The escrow as far as it is known; `unknown` when the chain can't be asked. */
export type EscrowKnowledge = Pick<EscrowedOrder, 'state' | 'commit'> | 'unknown'

/** What becomes of an envelope that is offered. */
export type Decision =
  /** Kept besides the others. */
  | 'add'
  /** Takes the place of all others. */
  | 'replace'
  /** Not kept; the answer names the commit of the one that is. */
  | { readonly kept: Hex }
  /** There is no room, and the chain can't tell which one to keep. */
  | 'undecided'

/** The stored one with the same four fields. */
export function findIdentical(record: OrderRecord | undefined, offered: Envelope): Candidate | undefined {
  return record?.candidates.find(
    ({ envelope }) =>
      envelope.ct === offered.ct &&
      envelope.iv === offered.iv &&
      envelope.tag === offered.tag &&
      envelope.epk === offered.epk,
  )
}

/**
 * Anyone can read an orderId on the chain and post junk under it before its owner does, so the escrow's commit
 * decides, and not who came first.
 *
 * @param offered commit of an envelope that is not stored
 */
export function decideEnvelope(record: OrderRecord, offered: Hex, escrow: EscrowKnowledge): Decision {
  const [first] = record.candidates
  const hasRoom = record.candidates.length < MAX_CANDIDATES
  const commit = escrow === 'unknown' || escrow.state === 'NONE' ? record.escrowCommit : escrow.commit
  const match = commit === null ? undefined : matchingCandidate(record, commit)
  if (match !== undefined) return { kept: match.commit }
  // Not even one to compare with: the orderId has not been posted before, whatever state the escrow is in.
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
