// A job `resolve`: the platform's owner ends an order that no run can end, gets an account back whose nonce has leapt, or has a move carried out.
import * as z from 'zod'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import type { Envelope } from '../../protocol/envelope.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { clientOrderIdOf } from '../../protocol/identifiers.js'
import type { RunResult } from '../../protocol/job.js'
import type { OpenOrder, Portfolio } from '../../protocol/portfolio.js'
import {
  entryHash,
  MAX_VALIDITY_S,
  type NonceResolution,
  type OrderResolution,
  type Resolution,
  resolutionDigest,
} from '../../protocol/resolution.js'
import { recoverAddress } from '../../protocol/signature.js'
import { ConflictError, codeOf, RunFailure, restarting } from '../failures.js'
import type { Look } from '../heads.js'
import { withoutOrder, withTrade, worthOf } from '../money.js'
import type { Run } from '../run.js'
import { hasLeapt } from './admission.js'
import { costsMore, findByEntry } from './atBroker.js'
import { type AccountState, termsOfEscrow } from './life.js'
import { carryOutMove, type MoveRejection } from './move.js'
import { wholeOf } from './placements.js'
import { awaitEscrow, domainOf, findPrice, type Seen } from './read.js'
import { submitRefund, submitSettlement, writePortfolio } from './write.js'

/** Why a resolution was rejected. The owner who signed it gets the code back; it says nothing of an order's content. */
type ResolutionRejection =
  | 'undecryptable'
  | 'invalid-resolution'
  | 'invalid-signature'
  | 'not-owner'
  /** By the chain's time at the head. */
  | 'expired'
  | 'expiry-too-far'
  /** The order is not in the portfolio, or as another entry: also once the resolution has been applied. */
  | 'entry-changed'
  /** The account's runs can end the order by themselves. */
  | 'order-not-stuck'
  /** The broker has an order under its id that may still be filled. */
  | 'order-live'
  | 'invalid-figures'
  /** The price that the figures come to is less than half of the market's, or more than double. */
  | 'figures-off-market'
  /** The market has no price of the symbol to judge figures by: such an order can be released alone. */
  | 'no-price'
  | 'order-not-refunded'
  /** The portfolio was written since: also once the resolution has been applied. */
  | 'portfolio-changed'
  | 'nonce-not-leapt'
  | MoveRejection

/** Applies what the owner has signed. Each resolution is for one state of the portfolio, so it has its effect once. */
export async function runResolution(run: Run, envelope: Envelope): Promise<RunResult> {
  const read = await readResolution(run, envelope)
  const code = typeof read === 'string' ? read : await restarting(() => apply(run, read))
  return code === null ? { outcome: 'done' } : { outcome: 'rejected', code }
}

async function readResolution(
  run: Run,
  envelope: Envelope,
): Promise<{ resolution: Resolution; signer: Hex } | ResolutionRejection> {
  const domain = domainOf(run)
  let resolution: Resolution
  try {
    resolution = await run.open.resolution(envelope, domain)
  } catch (error) {
    const isMalformed = error instanceof ProtocolError && error.code === 'invalid-plaintext'
    return isMalformed || error instanceof z.core.$ZodError ? 'invalid-resolution' : 'undecryptable'
  }
  try {
    const { sig, ...unsigned } = resolution
    return { resolution, signer: recoverAddress(resolutionDigest(unsigned, domain), sig) }
  } catch {
    return 'invalid-signature'
  }
}

/** Null once it has taken effect. It holds the account's lock. */
async function apply(
  run: Run,
  { resolution, signer }: { resolution: Resolution; signer: Hex },
): Promise<ResolutionRejection | null> {
  await run.authorizer.assertRelay()
  const look = await run.chain.look()
  const { head, deep } = look
  // A permission: at the head and at the stated depth.
  const owners = await Promise.all([head, deep].map((block) => run.chain.owner(block)))
  if (!owners.every((owner) => sameAddress(owner, signer))) return 'not-owner'
  if (resolution.resolves === 'move') return judgeExpiry(resolution, look) ?? carryOutMove(run, resolution)
  const { escrow } = await awaitEscrow(run, resolution.orderId)
  const { account } = escrow
  if (escrow.state === 'NONE') throw new RunFailure('order-unknown')
  return run.accountLock.run(account, async () => {
    const seen = await awaitEscrow(run, resolution.orderId)
    if (seen.escrow.account !== account) throw new ConflictError('the order was opened anew')
    const expiry = judgeExpiry(resolution, seen.look)
    if (expiry !== null) return expiry
    if (!seen.isDeep) throw new RunFailure('chain-depth')
    const { portfolio, ...stored } = await run.portfolios.load(account, seen.look.head)
    if (!portfolio) return resolution.resolves === 'order' ? 'entry-changed' : 'portfolio-changed'
    const now = { account, ...stored, portfolio }
    return resolution.resolves === 'order'
      ? endOrder(run, resolution, now, seen)
      : lowerNonce(run, resolution, now, seen)
  })
}

function judgeExpiry({ validBefore }: Resolution, { head }: Look): 'expired' | 'expiry-too-far' | null {
  if (head.timestamp >= validBefore) return 'expired'
  return validBefore > head.timestamp + MAX_VALIDITY_S ? 'expiry-too-far' : null
}

async function endOrder(
  run: Run,
  { orderId, entryHash: signed, quantity, value }: OrderResolution,
  state: AccountState,
  { escrow }: Seen,
): Promise<ResolutionRejection | null> {
  const entry = state.portfolio.openOrders[orderId]
  if (!entry || entryHash(orderId, entry) !== signed) return 'entry-changed'
  const notStuck = await whyNotStuck(run, orderId, entry, escrow)
  if (notStuck !== null) return notStuck
  const fill = { qty: quantity, value }
  if (!isPossible(fill, entry, escrow)) return 'invalid-figures'
  const offMarket = await whyOffMarket(run, fill, entry)
  if (offMarket !== null) return offMarket
  await writeEnd(run, orderId, { fill, state, escrow })
  return null
}

/**
 * Why a person cannot end the order yet; null where only a person can: the broker's order is not the enclave's, or ended as none of the
 * enclave's can. Once its escrow is over, no run places it any more, so what the broker says counts less than the owner's word. Figures
 * for an order that may still fill would be wrong with its next fill, even if someone else placed it.
 */
async function whyNotStuck(
  run: Run,
  orderId: Hex,
  entry: OpenOrder,
  escrow: EscrowedOrder,
): Promise<'order-live' | 'order-not-stuck' | null> {
  const { broker } = run
  const clientOrderId = clientOrderIdOf(orderId)
  const isOver = escrow.state === 'REFUNDED'
  try {
    const found = await broker.getOrderByClientOrderId(clientOrderId)
    if (found?.state === 'live') return 'order-live'
    const placed = found && (await findByEntry(run, orderId, entry))
    if (placed?.order.state === 'live') return 'order-live'
    if (placed) costsMore(entry, wholeOf(placed))
    return isOver ? null : 'order-not-stuck'
  } catch (error) {
    const code = codeOf(error)
    if (code === 'broker-mismatch') return null
    if (!isOver || code !== 'broker-unreadable') throw error
    return (await broker.mayFill(clientOrderId)) ? 'order-live' : null
  }
}

interface Fill {
  /** Share base units. */
  qty: bigint
  /** USDC base units. */
  value: bigint
}

function isPossible({ qty, value }: Fill, entry: OpenOrder, escrow: EscrowedOrder): boolean {
  if (qty === 0n) return value === 0n
  if (entry.side === 'SELL') return qty <= entry.locked
  // Its USDC went back to the wallet, so its shares are the platform's.
  const isPaidBack = entry.escrow > 0n && escrow.state === 'REFUNDED'
  return !isPaidBack && value <= entry.notional
}

/**
 * A slip of the decimal point, or the thief of an owner's key, moves no more than about the order's own worth. Without a price nothing
 * would bound what figures move.
 */
async function whyOffMarket(
  run: Run,
  { qty, value }: Fill,
  { symbol }: OpenOrder,
): Promise<'figures-off-market' | 'no-price' | null> {
  if (qty === 0n) return null
  const price = await findPrice(run, symbol)
  if (price === null) return 'no-price'
  const worth = worthOf(qty, price)
  return value * 2n >= worth && value <= worth * 2n ? null : 'figures-off-market'
}

async function writeEnd(
  run: Run,
  orderId: Hex,
  { fill, state, escrow }: { fill: Fill; state: AccountState; escrow: EscrowedOrder },
): Promise<void> {
  const { portfolio } = state
  const terms = termsOfEscrow(orderId, escrow)
  const isOpen = escrow.state === 'OPEN'
  if (isOpen && fill.qty === 0n) return submitRefund(run, { state, terms })
  const credited = isOpen ? terms.escrowed : 0n
  const after =
    fill.qty > 0n ? withTrade(portfolio, orderId, fill, credited) : withoutOrder(portfolio, orderId)
  if (isOpen) return submitSettlement(run, { state, terms }, after)
  await writePortfolio(run, state, after, { terms, required: 'REFUNDED' })
}

/**
 * Lowers a nonce that has leapt to the block's time. Nothing that has ended comes back by that: its escrow is closed for ever, and an
 * intent is for one escrow. What an honest client signed before is not above that time either.
 */
async function lowerNonce(
  run: Run,
  { orderId, portfolioHash }: NonceResolution,
  state: AccountState,
  { escrow, look }: Seen,
): Promise<ResolutionRejection | null> {
  if (state.hash !== portfolioHash) return 'portfolio-changed'
  if (escrow.state !== 'REFUNDED') return 'order-not-refunded'
  const blockTimeMs = look.head.timestamp * 1_000
  if (!hasLeapt(state.portfolio.nonce, blockTimeMs)) return 'nonce-not-leapt'
  const lowered: Portfolio = { ...state.portfolio, nonce: blockTimeMs }
  await writePortfolio(run, state, lowered, { terms: termsOfEscrow(orderId, escrow), required: 'REFUNDED' })
  return null
}
