import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { BlockPoint, ChainState, Look } from '../chainState.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'
import type { ChainFacts } from './admission.js'
import type { OrderTerms } from './terms.js'

/**
 * What admission asks of the chain, at the head and at the stated depth: either forbids. The institution is the
 * registry's, never the intent's. Flags are read of every symbol, so that the node does not learn which of them the
 * order is about, nor its side.
 */
export function readChainFacts(
  run: Run,
  terms: OrderTerms,
  portfolio: Portfolio | null,
  { head, deep }: Look,
): Promise<ChainFacts[]> {
  const blocks = head === deep ? [head] : [head, deep]
  return Promise.all(blocks.map((block) => readFactsAt(run, terms, portfolio, block)))
}

async function readFactsAt(
  { chain, policies }: Run,
  { account, symbol }: OrderTerms,
  portfolio: Portfolio | null,
  block: BlockPoint,
): Promise<ChainFacts> {
  const { hash } = block
  const [orgId, leavingAt, kyc, listed] = await Promise.all([
    chain.registry.orgOf(account, hash),
    chain.registry.leavingAt(account, hash),
    chain.token.isKyc(account, hash),
    chain.token.listedSymbols(hash),
  ])
  const member = orgId !== ZERO_BYTES32
  const [admitted, policy, frozen] = await Promise.all([
    chain.registry.isAdmitted(orgId, hash),
    member ? policies.load(orgId, block).then((stored) => stored.policy) : null,
    frozenSymbols(chain, account, [...listed, ...heldSymbols(portfolio)], block),
  ])
  const id = nameToBytes32(symbol)
  return {
    blockTime: block.timestamp,
    member,
    admitted,
    leaving: leavingAt !== 0,
    policy,
    kyc,
    frozen: frozen.has(id),
    listed: listed.includes(id),
  }
}

/** Which of the symbols are frozen for the account; asked for in the same order, whatever is asked for. */
async function frozenSymbols(
  { token }: ChainState,
  account: Hex,
  symbols: Hex[],
  block: BlockPoint,
): Promise<Set<Hex>> {
  const all = [...new Set(symbols)].sort()
  const frozen = await Promise.all(all.map((id) => token.isFrozen(id, account, block.hash)))
  return new Set(all.filter((_, index) => frozen[index]))
}

/** What is held can be sold and withdrawn when it is no longer listed. */
function heldSymbols(portfolio: Portfolio | null): Hex[] {
  return Object.keys(portfolio?.positions ?? {}).map(nameToBytes32)
}

/**
 * The price that a sale's size is computed from: the higher of the bid and the last trade, as the higher it is,
 * the fewer shares are sold.
 * @throws RunFailure when the broker knows no last trade
 */
export async function readPrice({ broker }: Run, symbol: string): Promise<bigint> {
  const snapshot = (await broker.getSnapshots([symbol])).get(symbol)
  const last = snapshot?.last ?? null
  if (last === null) throw new RunFailure('broker-unavailable')
  const bid = snapshot?.bid ?? 0n
  return bid > last ? bid : last
}
