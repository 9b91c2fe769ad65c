// The reads before a decision: escrow and write-ahead at their depth, the envelope, prohibitions, the market.
import { isDeepStrictEqual } from 'node:util'
import type { BrokerOrder } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import { cancelIntentDigest } from '../../protocol/cancelIntent.js'
import { type CorporateAction, changesShares, formerNamesOf } from '../../protocol/corporateActions.js'
import type { Envelope } from '../../protocol/envelope.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import { type Intent, intentDigest } from '../../protocol/intent.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { ChainState } from '../chainState.js'
import { RunFailure } from '../failures.js'
import type { BlockPoint, Look } from '../heads.js'
import type { Run } from '../run.js'
import type { ChainFacts, Market } from './admission.js'
import type { NeverPlaced, New, OrderTerms, WrittenAhead } from './life.js'
import { type TimedFill, timedFills } from './placements.js'

/** An order's escrow at the head. */
export interface Seen {
  look: Look
  escrow: EscrowedOrder
  /** Whether it stands at the stated depth as it does at the head. */
  isDeep: boolean
}

/** Reads an order's escrow, and waits for a few seconds until the chain knows it and it lies deep enough. */
export async function awaitEscrow(run: Run, orderId: Hex): Promise<Seen> {
  return poll(run, async (look) => {
    const [escrow, deep] = await readEscrow(run.chain, orderId, look)
    const isDeep = deep === escrow || isDeepStrictEqual(escrow, deep)
    return { done: isDeep && escrow.state !== 'NONE', value: { look, escrow, isDeep } }
  })
}

/** Whether an order's last write ahead lies at the stated depth; waits for it for a few seconds. */
export function awaitWriteAhead(run: Run, order: WrittenAhead | NeverPlaced): Promise<boolean> {
  return poll(run, async (look) => {
    const isDeep = await isWrittenDeep(run, order, look)
    return { done: isDeep, value: isDeep }
  })
}

/** Whether an order is in the portfolio at the stated depth, with these very terms. */
export async function isWrittenDeep(
  run: Run,
  { state, terms, entry }: WrittenAhead | NeverPlaced,
  look: Look,
): Promise<boolean> {
  if (look.deep === look.head) return true
  const { portfolio } = await run.portfolios.load(state.account, look.deep)
  const written = portfolio?.openOrders[terms.orderId]
  return written !== undefined && isDeepStrictEqual(written, entry)
}

/** The escrow at the head and at the stated depth. */
export async function readEscrow(
  chain: Pick<ChainState, 'escrow'>,
  orderId: Hex,
  { head, deep }: Look,
): Promise<[head: EscrowedOrder, deep: EscrowedOrder]> {
  const at = (block: BlockPoint) => chain.escrow.orders(orderId, block.hash)
  if (deep === head) {
    const escrow = await at(head)
    return [escrow, escrow]
  }
  return Promise.all([at(head), at(deep)])
}

/** Reads at one head after another until it is done, for `depthWaitMs` at most; then returns the last value. */
async function poll<T>(
  { chain, clock, timings }: Run,
  read: (look: Look) => Promise<{ done: boolean; value: T }>,
): Promise<T> {
  const { depthWaitMs, confirmPollMs } = timings
  const until = clock.now() + depthWaitMs
  for (let looking = chain.look(); ; looking = chain.lookLater()) {
    const { done, value } = await read(await looking)
    if (done || clock.now() >= until || !clock.allows(confirmPollMs)) return value
  }
}

/**
 * Opens an order's envelope. Null when its content can't be trusted: it does not open, is not an intent, belongs to
 * another order or account, or is not signed by the account: by its key, or as a contract at the head.
 */
export async function unseal(
  run: Run,
  { orderId, escrow }: New,
  envelope: Envelope,
  { head }: Look,
): Promise<Intent | null> {
  const intent = await openedOrNull(run.open.intent(envelope))
  if (intent?.orderId !== orderId || !sameAddress(intent.account, escrow.account)) return null
  const { sig, ...unsigned } = intent
  const digest = intentDigest(unsigned, domainOf(run))
  return (await run.chain.isSignedBy(escrow.account, digest, sig, head)) ? intent : null
}

/** What an envelope holds, or null where it does not open or holds something else. */
async function openedOrNull<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening
  } catch {
    return null
  }
}

/**
 * Whether an order's account asks for it to be cancelled. A cancel that does not open, is another order's, or is not signed by the
 * account has no effect: the server, or an attacker in it, could send anything.
 */
export async function isCancelled(
  run: Run,
  orderId: Hex,
  { escrow: { account }, look: { head } }: Seen,
  cancel: Envelope | undefined,
): Promise<boolean> {
  if (!cancel) return false
  const [order, domain] = [{ orderId, account }, domainOf(run)]
  const sig = await openedOrNull(run.open.cancel(cancel, order, domain))
  return sig !== null && run.chain.isSignedBy(account, cancelIntentDigest(order, domain), sig, head)
}

/** The domain of what clients and the owner sign. */
export function domainOf({ chain }: Run): IntentDomain {
  return { chainId: chain.chainId, escrow: chain.addresses.orderEscrow }
}

/**
 * The facts for admission, at the head and at the stated depth: either forbids. The institution is the
 * registry's, never the intent's. Flags are read of every symbol, so that the node does not learn which of them the
 * order is about, nor its side. Corporate actions only add names and prohibitions, so those of the head count at both.
 */
export async function readChainFacts(
  { chain, policies }: Pick<Run, 'chain' | 'policies'>,
  { account, symbol, deposited }: Pick<OrderTerms, 'account' | 'symbol' | 'deposited'>,
  portfolio: Portfolio | null,
  look: Look,
): Promise<ChainFacts[]> {
  // A held symbol can be sold and withdrawn when it is no longer listed. The chain shows that of an escrow to everyone, and it may be
  // neither listed nor held.
  const named = [...Object.keys(portfolio?.positions ?? {}), ...(deposited ? [deposited.symbol] : [])]
  const id = nameToBytes32(symbol)
  const actions = await chain.actions(look.head)
  const names = formerNamesOf(symbol, actions)
  const ends = actions.filter((action) => action.symbol === symbol)
  const removed = ends.some(({ kind }) => kind === 'REMOVAL')
  return Promise.all(blocksOf(look).map(factsAt))

  async function factsAt(block: BlockPoint): Promise<ChainFacts> {
    const { hash } = block
    const [orgId, leavingAt, kyc, listed, isFrozen] = await Promise.all([
      chain.registry.orgOf(account, hash),
      chain.registry.leavingAt(account, hash),
      chain.token.isKyc(account, hash),
      chain.token.listedSymbols(hash),
      readFrozen(chain, account, { named, actions }, hash),
    ])
    const member = orgId !== ZERO_BYTES32
    const [admitted, policy] = await Promise.all([
      chain.registry.isAdmitted(orgId, hash),
      member ? policies.load(orgId, block).then((stored) => stored.policy) : null,
    ])
    return {
      blockTime: block.timestamp,
      member,
      admitted,
      leaving: leavingAt !== 0,
      policy,
      kyc,
      names,
      frozen: isFrozen(symbol),
      listed: listed.includes(id),
      removed,
    }
  }
}

/**
 * The corporate actions that an order's employee did not know as she opened it. The node is asked whatever the order is: it learns nothing
 * of it.
 */
export async function readEnactedSince(
  { chain }: Pick<Run, 'chain'>,
  orderId: Hex,
  { head }: Look,
): Promise<readonly CorporateAction[]> {
  const actions = await chain.actions(head)
  const count = actions.some(changesShares) ? await chain.enactedSince(orderId, head) : 0
  return actions.slice(actions.length - count)
}

/** The head and the block at the stated depth, once where they are one. */
export function blocksOf({ head, deep }: Look): BlockPoint[] {
  return head === deep ? [head] : [head, deep]
}

/**
 * Tells of each symbol whether it is frozen for an account; the contract knows former names. Flags are read of every symbol that is
 * named, listed, or in a change of symbols: the calls and their order do not depend on which of them matters.
 */
export async function readFrozen(
  chain: Pick<Run['chain'], 'token'>,
  account: Hex,
  { named, actions }: { named: readonly string[]; actions: readonly CorporateAction[] },
  hash: Hex,
): Promise<(symbol: string) => boolean> {
  const changed = actions.flatMap((each) =>
    each.kind === 'SYMBOL_CHANGE' ? [each.symbol, each.successor] : [],
  )
  const listed = await chain.token.listedSymbols(hash)
  const sorted = [...new Set([...listed, ...[...named, ...changed].map(nameToBytes32)])].sort()
  const flags = await Promise.all(sorted.map((symbol) => chain.token.isFrozen(symbol, account, hash)))
  const frozen = new Set(sorted.filter((_, index) => flags[index]))
  return (symbol) => frozen.has(nameToBytes32(symbol))
}

/** Reads what a judgement needs of the market, and judges again until it needs nothing more. */
export async function judged<Verdict extends object>(
  run: Run,
  symbol: string,
  judge: (market: Market) => Verdict | { needs: keyof Market },
  known: Market = {},
): Promise<Verdict> {
  const verdict = judge(known)
  if (!('needs' in verdict)) return verdict
  return judged(run, symbol, judge, { ...known, ...(await readMarket(run, symbol, verdict.needs)) })
}

/** @throws RunFailure `broker-unavailable` for a price without a last trade */
async function readMarket(run: Run, symbol: string, part: keyof Market): Promise<Market> {
  if (part === 'clock') return { clock: await run.broker.getClock() }
  if (part === 'asset') return { asset: await run.broker.getAsset(symbol) }
  const price = await findPrice(run, symbol)
  if (price === null) throw new RunFailure('broker-unavailable')
  return { price }
}

/** @throws RunFailure `broker-unreadable` where a corporate action lies within the order's life, and its fills are not entered yet */
export async function readFills(
  { broker }: Pick<Run, 'broker'>,
  order: BrokerOrder,
  actions: readonly CorporateAction[],
): Promise<readonly TimedFill[]> {
  const known = timedFills(order, actions)
  if (known) return known
  const after = new Date(order.createdAt.getTime() - 60_000)
  const fills = timedFills(order, actions, (await broker.getActivities({ after })).fills)
  if (fills === null) throw new RunFailure('broker-unreadable')
  return fills
}

/** USD with 6 decimals: the higher of bid and last trade; null without a last trade. */
export async function findPrice({ broker }: Run, symbol: string): Promise<bigint | null> {
  const snapshot = (await broker.getSnapshots([symbol])).get(symbol)
  const last = snapshot?.last ?? null
  if (last === null) return null
  const bid = snapshot?.bid ?? 0n
  // The higher the price, the fewer shares are sold.
  return bid > last ? bid : last
}
