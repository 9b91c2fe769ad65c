// The move of a lost wallet's portfolio to a new wallet, which people have approved on chain: docs/contracts.md, "A lost wallet".

import type { AccountMove } from '../../protocol/accountMove.js'
import { sameAddress } from '../../protocol/address.js'
import { type Hex, hexToBytes, ZERO_BYTES32 } from '../../protocol/hex.js'
import { keccak256 } from '../../protocol/keccak.js'
import { publicKeySchema } from '../../protocol/point.js'
import { emptyPortfolio, type Portfolio } from '../../protocol/portfolio.js'
import type { MoveResolution } from '../../protocol/resolution.js'
import type { Look } from '../heads.js'
import { fits } from '../room.js'
import type { Run } from '../run.js'
import { blocksOf, readFrozen } from './read.js'

/** Why a move is not carried out now. The owner who asked for it gets the code back; it says nothing of a portfolio's content. */
export type MoveRejection =
  /** No such move is approved at both blocks that are looked at, or its delay has not passed. */
  | 'move-not-due'
  | 'not-admitted'
  | 'in-another-institution'
  | 'new-wallet-not-cleared'
  /** The new wallet has a portfolio of its own, or no room in it. */
  | 'new-wallet-in-use'
  | 'invalid-public-key'
  | 'no-portfolio'
  /** The lost wallet has orders that no run has ended yet. */
  | 'orders-open'
  /** The owner has frozen a holding of the lost wallet: it stays where it is. */
  | 'holding-frozen'

/**
 * Positions that move at once. Storage costs five times as much to begin as to write again, so a portfolio of 150 positions does not
 * fit one transaction.
 */
export const POSITIONS_AT_ONCE = 24

type Wallets = Pick<MoveResolution, 'from' | 'to'>

/** Moves part after part; null once the last has taken effect. No run of either account goes on meanwhile. */
export function carryOutMove(run: Run, wallets: Wallets): Promise<MoveRejection | null> {
  // Always in the same order, so that two moves never wait for one another.
  const [first, second] = [wallets.from, wallets.to].sort()
  return run.accountLock.run(String(first), () =>
    run.accountLock.run(String(second), async () => {
      for (;;) {
        const left = await movePart(run, wallets)
        if (typeof left === 'string') return left
        if (left === 0) return null
      }
    }),
  )
}

/** Moves the next part, and returns how many are left. @throws ConflictError */
async function movePart(run: Run, { from, to }: Wallets): Promise<MoveRejection | number> {
  const look = await run.chain.look()
  const move = await dueMove(run, { from, to }, look)
  if (move === null) return 'move-not-due'
  const forbidden = await whyForbidden(run, { from, to }, move, look)
  if (forbidden !== null) return forbidden
  const [lost, own] = await Promise.all([from, to].map((account) => run.portfolios.load(account, look.head)))
  if (!lost?.portfolio || !own) return 'no-portfolio'
  if (move.hasBegun !== own.version > 0n) return 'new-wallet-in-use'
  const open = await run.chain.escrow.openOrdersBy(from, look.head.hash)
  if (open > 0 || Object.keys(lost.portfolio.openOrders).length > 0) return 'orders-open'
  if (await isFrozen(run, from, lost.portfolio, look)) return 'holding-frozen'
  const { data: userPubKey } = publicKeySchema.safeParse(move.userPubKey)
  if (userPubKey === undefined) return 'invalid-public-key'
  const before = own.portfolio ?? begunLike(lost.portfolio, userPubKey)
  const { left, moved, partsLeft } = divided(lost.portfolio, before)
  if (!fits(moved)) return 'new-wallet-in-use'
  const [sealed, toSealed] = await Promise.all([
    // What is left shrinks at once: that it has moved is public.
    run.portfolios.seal(from, left, { ...lost, bytes: 0 }),
    run.portfolios.seal(to, moved, own),
  ])
  await run.authorizer.submit({
    primaryType: 'PortfolioMove',
    message: {
      ...{
        from,
        to,
        effectiveAt: BigInt(move.effectiveAt),
        userPubKeyHash: keccak256(hexToBytes(userPubKey)),
      },
      ...{ partsLeft: BigInt(partsLeft), ...sealed },
      toVersion: toSealed.version,
      toPrevious: toSealed.previous,
      toEnclaveBlob: toSealed.enclaveBlob,
      toUserBlob: toSealed.userBlob,
    },
  })
  return partsLeft
}

/** A portfolio without holdings, which has followed the same corporate actions. */
function begunLike({ actions, writtenAt }: Portfolio, userPubKey: Hex): Portfolio {
  return {
    ...emptyPortfolio(userPubKey),
    ...(actions !== undefined && { actions }),
    ...(writtenAt !== undefined && { writtenAt }),
  }
}

/**
 * What the lost wallet keeps, and what the new one has then: cash and claims to dividends move first.
 * The nonce stays, so no intent of the lost wallet counts anew.
 */
export function divided(lost: Portfolio, own: Portfolio) {
  const held = Object.entries(lost.positions)
  const positions = { ...own.positions }
  for (const [symbol, { qty }] of held.slice(0, POSITIONS_AT_ONCE)) {
    const { qty: before = 0n, locked = 0n } = positions[symbol] ?? {}
    positions[symbol] = { qty: before + qty, locked }
  }
  const rest = held.slice(POSITIONS_AT_ONCE)
  const { entitlements: owed = {}, ...kept } = lost
  const writtenAt = Math.max(own.writtenAt ?? 0, lost.writtenAt ?? 0)
  const entitlements = { ...own.entitlements }
  for (const [index, qty] of Object.entries(owed)) entitlements[index] = (entitlements[index] ?? 0n) + qty
  return {
    left: { ...kept, cash: 0n, positions: Object.fromEntries(rest) },
    moved: {
      ...{ ...own, cash: own.cash + lost.cash, positions },
      // What the lost wallet traded since an earlier part is not the new one's of before.
      ...(writtenAt > 0 && { writtenAt }),
      ...(Object.keys(entitlements).length > 0 && { entitlements }),
    },
    partsLeft: Math.ceil(rest.length / POSITIONS_AT_ONCE),
  }
}

/** The move at the head, if it is approved at the stated depth too, and its delay has passed by the head's time. */
async function dueMove({ chain }: Run, { from, to }: Wallets, look: Look): Promise<AccountMove | null> {
  const seen = await Promise.all(blocksOf(look).map(({ hash }) => chain.registry.moveOf(from, hash)))
  const [move] = seen
  if (!move || !sameAddress(move.to, to)) return null
  const isSame = seen.every((each) => each?.effectiveAt === move.effectiveAt && sameAddress(each.to, to))
  const isDue = move.effectiveAt > 0 && move.effectiveAt <= look.head.timestamp
  return isSame && isDue ? move : null
}

/** What the contracts check as well, with a reason for people. */
async function whyForbidden(
  { chain }: Run,
  wallets: Wallets,
  { orgId }: AccountMove,
  look: Look,
): Promise<MoveRejection | null> {
  for (const { hash } of blocksOf(look)) {
    const { from, to } = wallets
    const [isAdmitted, isCleared, ...institutions] = await Promise.all([
      chain.registry.isAdmitted(orgId, hash),
      chain.token.isKyc(to, hash),
      chain.registry.orgOf(from, hash),
      chain.registry.orgOf(to, hash),
    ])
    if (!isAdmitted) return 'not-admitted'
    if (!isCleared) return 'new-wallet-not-cleared'
    if (institutions.some((each) => each !== ZERO_BYTES32 && each !== orgId)) return 'in-another-institution'
  }
  return null
}

/** At either block. The node does not learn which symbols are held. */
async function isFrozen(
  { chain }: Run,
  from: Wallets['from'],
  { positions }: Portfolio,
  look: Look,
): Promise<boolean> {
  const named = Object.keys(positions)
  const actions = await chain.actions(look.head)
  const frozen = await Promise.all(
    blocksOf(look).map(({ hash }) => readFrozen(chain, from, { named, actions }, hash)),
  )
  return frozen.some((isFrozenAt) => named.some(isFrozenAt))
}
