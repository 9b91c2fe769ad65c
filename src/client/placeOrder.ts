import { sameAddress } from '../protocol/address.js'
import type { OrderReceived } from '../protocol/api.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { createContract, type Mined } from './contract.js'
import { ClientError, type ClientErrorCode, ContractError, neverRetryable, ServerError } from './errors.js'
import { approvedFor, createEscrow, type Payable, paymentOf } from './escrow.js'
import type { CallOptions } from './http.js'
import type { KeptOrders } from './keptOrders.js'
import type { Keyring } from './keyring.js'
import { clockAt, createNonces } from './nonces.js'
import type { Openings } from './openings.js'
import { assertOrder, assertUnits, type OrderRequest, payableOf, sealOrder, wireOf } from './orderIntent.js'
import type { OrderPosting } from './orderPosting.js'
import type { Orders } from './orders.js'
import { type PlaceStep, type Prompt, promptsOf, type Route } from './plan.js'
import type { Platform, PlatformContracts } from './platform.js'
import { readNonce } from './portfolio.js'
import { REGISTRY_ABI } from './registryAbi.js'
import { abortable, type RetryTiming, sleep, waitAfter } from './retry.js'
import {
  isSignedOrder,
  NotSubmittedError,
  type SealedOrder,
  type SignedOrder,
  type SubmittableOrder,
} from './sealedOrder.js'
import { assertListed } from './shares.js'
import type { Wallet } from './wallet.js'

export interface PlaceOptions extends CallOptions {
  /**
   * The wallet signs the opening and sends no transaction; the platform opens the escrow and pays the gas, within the account's daily
   * quota. The next sponsored order waits until this one is open or its signature has expired.
   */
  readonly sponsored?: boolean | undefined
  /**
   * USDC base units that the escrow may take from the wallet from now on, where the wallet pays and this order needs an allowance: later
   * buys are two requests then. It lasts until it is used up. By default nothing is approved beyond the order.
   */
  readonly approve?: bigint | undefined
  /**
   * Awaited once the client's store has the order, before the escrow opens. `intent` is confidential. A sponsored order has its
   * `opening`, and `submitOrder` may then open it: until the signature expires, ask before you submit it again.
   */
  readonly beforeOpen?: ((order: SealedOrder) => void | Promise<void>) | undefined
  /**
   * Called as each step starts. A buy whose allowance is short is authorized by a signature; in one batch with its opening where the
   * wallet offers that (EIP-5792); by an approval where the account or the contracts cannot take a signature.
   */
  readonly onStep?: ((step: PlaceStep) => void) | undefined
  /**
   * Called if another wallet has already opened an order under this id. The client then seals under a fresh id, which
   * the wallet signs. It repeats until the escrow opens, the deadline passes or `signal` aborts.
   */
  readonly onIdTaken?: ((taken: TakenId) => void) | undefined
  /** Called before `placeOrder` rejects, where the order is open, or may be or come to be: the client keeps it for `resumeOrder`. */
  readonly onUnfinished?: ((order: UnfinishedOrder) => void) | undefined
}

/** An order that was not placed, and is or may come to be open. */
export interface UnfinishedOrder {
  readonly orderId: Hex
  /**
   * `open`: its escrow is open, and the server does not have it. `unopened`: a transaction that opens it may still be mined. `signed`: the
   * platform may open it until its signature expires.
   */
  readonly state: 'open' | 'unopened' | 'signed'
}

/** The options of one order. `note` takes what `onUnfinished` would say of it from now on; null: nothing. */
type Placing = PlaceOptions & { readonly note: (unfinished: UnfinishedOrder | null) => void }

/** Those options of `placeOrder` that change what the wallet is asked. */
export type PlanOptions = Pick<PlaceOptions, 'sponsored' | 'approve' | 'signal'>

/** Another wallet copied an id from a pending transaction. Only a cleared wallet can, and each copy costs it gas. */
export interface TakenId {
  /** The taken id; this wallet opened no escrow under it. */
  readonly orderId: Hex
  /** The copying wallet. Report it to the platform's operator, who can withdraw its clearance. */
  readonly by: Hex
  /** How many of this order's ids were taken so far. */
  readonly times: number
}

export interface PlacedOrder {
  readonly order: SealedOrder
  readonly opened: Mined
  readonly received: OrderReceived
}

interface PlacingDeps {
  readonly wallet: Wallet
  readonly platform: (options?: CallOptions) => Promise<Platform>
  readonly keys: Keyring
  readonly orders: Pick<Orders, 'getOrder'> & Pick<OrderPosting, 'submit'>
  readonly openings: Openings
  readonly kept: KeptOrders
  /** The backoff before an order is sealed under another id. */
  readonly timing: RetryTiming
}

/**
 * Places orders: seal, open the escrow, submit. Seals and opens one order at a time, because the enclave refuses a
 * nonce below that of an order opened earlier.
 * @returns `place`, which throws NotSubmittedError once the escrow is open, and the errors of its steps before that; `plan`, which asks
 *   chain and server what `place` would ask of the wallet
 */
export function createOrderPlacing(deps: PlacingDeps) {
  const nonces = createNonces()
  const { openings, kept } = deps
  let previous: Promise<unknown> = Promise.resolve()

  /**
   * Keeps the order before it can be opened, and forgets it where that is certain never to happen.
   * @param open calls back with each step that begins
   */
  async function keeping<T extends object>(
    order: SealedOrder,
    platform: Platform,
    { beforeOpen, onStep, sponsored, note }: Placing,
    open: (onStep: (step: PlaceStep) => void) => Promise<T>,
  ): Promise<T> {
    const { orderId } = order
    let isAsked = false
    const forget = () => {
      note(null)
      return kept.forget(orderId)
    }
    await kept.keep(order, platform)
    try {
      await beforeOpen?.(order)
      const placed = await open((step) => {
        isAsked ||= step === 'opening'
        if (isAsked) note({ orderId, state: sponsored ? 'signed' : 'unopened' })
        onStep?.(step)
      })
      if ('takenBy' in placed) await forget()
      return placed
    } catch (error) {
      if (!isAsked || provesUnopened(error, order)) await forget()
      // A node that has only estimated a transaction has seen its signature, too.
      throw isAsked && isSignedOrder(order) ? neverRetryable(error) : error
    }
  }

  /** How the wallet pays, and whether by a signature. */
  async function fundingOf(order: Payable, platform: Platform, { approve, signal }: PlaceOptions) {
    const escrow = createEscrow({ wallet: deps.wallet.until(signal), contracts: platform })
    const funding = await escrow.fundingOf(order)
    // Only USDC takes a signature in place of an approval.
    const isSigned =
      funding === 'short' && approve === undefined && order.escrowed > 0n && (await canSign(platform))
    return { funding, isSigned }
  }

  /** The wallet's own transaction. @returns the account that has taken the id, if one has */
  async function openByWallet(sealed: SealedOrder, platform: Platform, options: Placing) {
    const { approve, onStep, signal } = options
    const escrow = createEscrow({ wallet: deps.wallet.until(signal), contracts: platform })
    const { funding, isSigned } = await fundingOf(sealed, platform, options)
    if (isSigned) onStep?.('authorizing')
    const signed = isSigned ? await abortable(openings.sign(sealed, platform), signal) : null
    const order = signed === null ? sealed : { ...sealed, opening: signed.opening }
    return keeping(order, platform, options, async (onOpenStep) => {
      try {
        return { order, opened: await escrow.open(order, funding, { approve, onStep: onOpenStep }) }
      } catch (error) {
        if (isSignedOrder(order) && mayBeOut(error)) openings.note(order, platform)
        const takenBy = await escrow.takenBy(order.orderId, error).catch(failForGood)
        const isMine = takenBy !== null && sameAddress(takenBy, await deps.wallet.account())
        if (takenBy !== null && !isMine) return { takenBy }
        if (!(error instanceof ContractError) || signed === null || !isSignedOrder(order)) throw error
        // Another account that saw the transaction may have sent the signed opening first.
        if (!isMine && (await openings.stateOf(order, platform)) !== 'open') throw error
        const opened = await openings.opened(order, platform, signed)
        return 'takenBy' in opened ? opened : { order, opened }
      }
    })
  }

  /** A contract cannot make the signature, and two that can be used at once could both be used. */
  async function canSign(platform: Platform): Promise<boolean> {
    const code = await deps.wallet.reads.code(await deps.wallet.account())
    if (code !== '0x' || !(await openings.isOffered(platform))) return false
    return areAllOver(platform)
  }

  /** Whether no signed opening of this wallet's can still be used, those of earlier visits included. */
  async function areAllOver(platform: Platform): Promise<boolean> {
    return openings.areAllOver(platform, (await kept.list()).filter(isSignedOrder))
  }

  async function assertNoneOutstanding(platform: Platform): Promise<void> {
    if (await areAllOver(platform)) return
    throw new ClientError(
      'opening-outstanding',
      'The wallet has signed an order that the platform may still open. Wait for it, or up to ten minutes.',
    )
  }

  /** The wallet's signature, which the platform sends. @returns the account that has taken the id, if one has */
  async function openByPlatform(sealed: SealedOrder, platform: Platform, options: Placing) {
    const { onStep, signal } = options
    await assertNoneOutstanding(platform)
    onStep?.('authorizing')
    const { opening, since } = await abortable(openings.sign(sealed, platform), signal)
    const order = { ...sealed, opening }
    return keeping(order, platform, options, async (onOpenStep) => {
      openings.note(order, platform)
      onOpenStep('opening')
      const check = () => assertNotFailed(order.orderId, signal)
      try {
        const received = await deps.orders.submit(order, { signal })
        const opened = await openings.opened(order, platform, { since, check, signal })
        return 'takenBy' in opened ? opened : { order, opened, received }
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        const takenBy = await openings.takenBy(order, platform)
        if (takenBy === null) throw error
        return { takenBy }
      }
    })
  }

  /** The chain decides whether the order is open. The server only knows sooner why it is not. */
  async function assertNotFailed(orderId: Hex, signal?: AbortSignal): Promise<void> {
    const status = await deps.orders.getOrder(orderId, { signal }).catch(() => null)
    const { opening } = { opening: undefined, ...status }
    if (opening?.status !== 'failed') return
    throw new ContractError('openFor', opening.error?.name ?? 'unknown', opening.error?.args ?? {}, true)
  }

  /** All that can be known of an order before the wallet is asked. @throws ClientError as `plan` */
  async function checked(request: OrderRequest, { sponsored, approve, signal }: PlanOptions) {
    signal?.throwIfAborted()
    const wallet = deps.wallet.until(signal)
    const platform = await deps.platform({ signal })
    const { timestamp } = await wallet.reads.latestBlock()
    if (approve !== undefined) assertUnits(approve)
    await assertOrder(request, { wallet, platform }, { blockTime: timestamp, now: clockAt(timestamp) })
    await assertListed(wallet, platform.token, wireOf(request))
    const order = payableOf(request)
    if (sponsored) {
      await abortable(openings.assertOpenable(order, platform), signal)
      await abortable(assertNoneOutstanding(platform), signal)
    }
    await createEscrow({ wallet, contracts: platform }).assertFunds(order)
    return { wallet, platform, order }
  }

  async function openOne(request: OrderRequest, options: Placing) {
    const { onIdTaken, onStep, signal } = options
    const { wallet, platform } = await checked(request, options)
    if (!deps.keys.isHeld()) onStep?.('unlocking')
    const { publicKey } = await abortable(deps.keys.newest(), signal)
    const stored = await abortable(readNonce(wallet, platform, deps.keys), signal)
    const [orgId, { timestamp }] = await Promise.all([
      institutionOf(wallet, platform),
      abortable(wallet.reads.latestBlock(), signal),
    ])
    const open = options.sponsored ? openByPlatform : openByWallet
    for (let times = 1; ; times++) {
      const sealing = {
        wallet,
        platform,
        userPubKey: publicKey,
        orgId,
        nonce: nonces(stored, timestamp),
        now: clockAt(timestamp),
      }
      onStep?.('signing')
      const order = await sealOrder(request, sealing)
      signal?.throwIfAborted()
      const placed = await open(order, platform, options)
      if (!('takenBy' in placed)) return { received: undefined, ...placed }
      onIdTaken?.({ orderId: order.orderId, by: placed.takenBy, times })
      await sleep(waitAfter(times, deps.timing), signal)
    }
  }

  async function plan(request: OrderRequest, options: PlanOptions = {}): Promise<readonly Prompt[]> {
    const { platform, order } = await checked(request, options)
    const signatures = await abortable(deps.keys.signatures(), options.signal)
    const payment = paymentOf(order)
    const approved = payment === null ? 0n : approvedFor(payment, options.approve)
    return promptsOf(signatures, await routeOf(order, platform, options), payment, approved)
  }

  async function routeOf(order: Payable, platform: Platform, options: PlanOptions): Promise<Route> {
    if (options.sponsored) return 'sponsored'
    const { funding, isSigned } = await fundingOf(order, platform, options)
    if (funding !== 'short') return funding
    return isSigned ? 'signed' : 'approved'
  }

  async function place(request: OrderRequest, options: PlaceOptions = {}): Promise<PlacedOrder> {
    let open: SealedOrder | undefined
    let unfinished: UnfinishedOrder | null = null
    const note: Placing['note'] = (found) => {
      unfinished = found
    }
    const mine = previous.then(() => openOne(request, { ...options, note }))
    previous = mine.catch(() => undefined)
    try {
      const { order, opened, received } = await abortable(mine, options.signal)
      if (received !== undefined) return { order, opened, received }
      unfinished = { orderId: order.orderId, state: 'open' }
      options.onStep?.('submitting')
      open = withoutOpening(order)
      return { order, opened, received: await deps.orders.submit(open, { signal: options.signal }) }
    } catch (error) {
      if (unfinished) options.onUnfinished?.(unfinished)
      throw open ? new NotSubmittedError(open, error) : error
    }
  }

  return { place, plan }
}

/** The wallet has not sent the transaction. */
const NEVER_SENT = new Set<ClientErrorCode>(['transaction-refused', 'insufficient-funds', 'wrong-chain'])
/** The code of a revert without a name. Wallets report other failures so too, even of a transaction that they have sent. */
const UNNAMED = 'unknown'

function failForGood(error: unknown): never {
  throw neverRetryable(error)
}

/** Whether others may have seen a transaction that failed, and its signature. */
function mayBeOut(error: unknown): boolean {
  if (error instanceof ContractError) return error.isOut || error.code === UNNAMED
  if (!(error instanceof ClientError && NEVER_SENT.has(error.code))) return true
  // A guess has the failure that it explains as its cause.
  return error.cause instanceof ClientError
}

interface OpenSignedDeps extends Pick<PlacingDeps, 'wallet' | 'openings'> {
  readonly orders: Pick<OrderPosting, 'submit'>
  readonly contracts: PlatformContracts
}

/** Sends the signed opening of an order that the platform has not opened, then submits the order. */
export async function openSigned(
  order: SubmittableOrder & SignedOrder,
  { wallet, contracts, openings, orders }: OpenSignedDeps,
  options?: CallOptions,
): Promise<OrderReceived> {
  const escrow = createEscrow({ wallet, contracts })
  await escrow.openSigned(order).catch(async (error) => {
    // The platform may have been first.
    const by = await escrow.takenBy(order.orderId, error)
    const isOpen = (await openings.stateOf(order, contracts)) === 'open'
    if (!isOpen && (by === null || !sameAddress(by, await wallet.account()))) throw error
  })
  return orders.submit(withoutOpening(order), options)
}

/** For an order that is open: the server need not open it. */
function withoutOpening<T extends SubmittableOrder>(order: T): T {
  return { ...order, opening: undefined }
}

/** Failures after which a transaction without a signed opening is never mined. */
const NEVER_MINED = new Set<ClientErrorCode>([
  'transaction-replaced',
  'insufficient-usdc',
  'insufficient-shares',
])

/**
 * Whether a failure of `placeOrder` proves that the order which was kept last is not open and never will be.
 * A pending transaction or a silent node proves nothing, and anyone who has seen a signed opening can use it until it expires.
 */
export function provesUnopened(error: unknown, { opening }: Pick<SubmittableOrder, 'opening'>): boolean {
  if (!mayBeOut(error)) return true
  if (error instanceof ContractError) return error.isOut && opening === undefined
  if (!(error instanceof ClientError)) return false
  return error.code === 'opening-expired' || (opening === undefined && NEVER_MINED.has(error.code))
}

/** The institution is informational in an intent: the enclave reads it from the registry. */
function institutionOf(wallet: Wallet, { registry }: Platform): Promise<Hex> {
  const contract = createContract({ wallet, address: registry, abi: REGISTRY_ABI })
  return wallet.account().then((account) => contract.read<Hex>('orgOf', [account], bytes32Schema))
}
