import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import type { OrderReceived } from '../protocol/api.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { createContract, type Mined } from './contract.js'
import { createEscrow } from './escrow.js'
import type { Keyring } from './keyring.js'
import { createNonces } from './nonces.js'
import { NotSubmittedError, type OrderRequest, type SealedOrder, sealOrder } from './orderIntent.js'
import type { Orders } from './orders.js'
import type { Platform } from './platform.js'
import { readNonce } from './portfolio.js'
import { type RetryTiming, sleep, waitAfter } from './retry.js'
import type { Wallet } from './wallet.js'

/** The step that an order waits for: USDC approval, opening the escrow, or submission to the server. */
export type PlaceStep = 'approving' | 'opening' | 'submitting'

export interface PlaceOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Awaited before the escrow opens. Keep the order until it is submitted: if the page closes in between, only
   * `submitOrder` with this envelope can start it. If the server loses its files before a run starts, the status has a
   * null `receivedAt`: submit again. `intent` is confidential.
   */
  readonly beforeOpen?: ((order: SealedOrder) => void | Promise<void>) | undefined
  /** Called as each step starts. No approval is needed if the allowance suffices or the order escrows no USDC. */
  readonly onStep?: ((step: PlaceStep) => void) | undefined
  /**
   * Called if another wallet has already opened an order under this id. The client then seals under a fresh id, which
   * the wallet signs. It repeats until the escrow opens, the deadline passes or `signal` aborts.
   */
  readonly onIdTaken?: ((taken: TakenId) => void) | undefined
}

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
  readonly platform: () => Promise<Platform>
  readonly keys: Keyring
  readonly orders: Orders
  /** The backoff before an order is sealed under another id. */
  readonly timing: RetryTiming
}

/**
 * Places orders: seal, open the escrow, submit. Seals and opens one order at a time, because the enclave refuses a
 * nonce below that of an order opened earlier.
 * | @returns a function that throws NotSubmittedError once the escrow is open, and the errors of its steps before that
 */
export function createOrderPlacing(deps: PlacingDeps) {
  const nonces = createNonces()
  let previous: Promise<unknown> = Promise.resolve()

  async function openOne(request: OrderRequest, options: PlaceOptions) {
    const { beforeOpen, onStep, onIdTaken, signal } = options
    signal?.throwIfAborted()
    const [platform, { publicKey }] = [await deps.platform(), await deps.keys.newest()]
    const stored = await readNonce(deps.wallet, platform, deps.keys)
    const orgId = await institutionOf(deps.wallet, platform)
    const escrow = createEscrow({ wallet: deps.wallet, contracts: platform })
    for (let times = 1; ; times++) {
      const sealing = {
        wallet: deps.wallet,
        platform,
        userPubKey: publicKey,
        orgId,
        nonce: nonces(stored),
      }
      const order = await sealOrder(request, sealing)
      signal?.throwIfAborted()
      await beforeOpen?.(order)
      try {
        return { order, opened: await escrow.open(order, onStep) }
      } catch (error) {
        const by = await escrow.takenBy(order.orderId, error)
        if (by === null) throw error
        onIdTaken?.({ orderId: order.orderId, by, times })
        await sleep(waitAfter(times, deps.timing), signal)
      }
    }
  }

  return async (request: OrderRequest, options: PlaceOptions = {}): Promise<PlacedOrder> => {
    const mine = previous.then(() => openOne(request, options))
    previous = mine.catch(() => undefined)
    const { order, opened } = await mine
    options.onStep?.('submitting')
    try {
      return { order, opened, received: await deps.orders.submit(order, options.signal) }
    } catch (error) {
      throw new NotSubmittedError(order, error)
    }
  }
}

/** The institution is informational in an intent: the enclave reads it from the registry. */
function institutionOf(wallet: Wallet, { registry }: Platform): Promise<Hex> {
  const contract = createContract({ wallet, address: registry, abi: institutionRegistryAbi })
  return wallet.account().then((account) => contract.read<Hex>('orgOf', [account], bytes32Schema))
}
