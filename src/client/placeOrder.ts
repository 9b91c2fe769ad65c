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

/** What an order waits for: the wallet and the chain, to approve its USDC and to open its escrow; then the server. */
export type PlaceStep = 'approving' | 'opening' | 'submitting'

export interface PlaceOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Awaited before the escrow is opened. Keep the order until it is submitted: if the page goes away in between,
   * only `submitOrder` with this very envelope brings it to life. A server that loses its files before a run has begun
   * wants it again: `receivedAt` of its status is null then. Its `intent` is confidential.
   */
  readonly beforeOpen?: ((order: SealedOrder) => void | Promise<void>) | undefined
  /** Called as each step begins. There is nothing to approve where the allowance suffices, or nothing is escrowed. */
  readonly onStep?: ((step: PlaceStep) => void) | undefined
  /**
   * Called when somebody has opened an order under this one's id first. It is sealed again under a fresh id, for which
   * the wallet signs again, and so on until it opens, its deadline has passed, or `signal` aborts.
   */
  readonly onIdTaken?: ((taken: TakenId) => void) | undefined
}

/** Somebody copies ids from pending transactions. Only a cleared wallet can, and each time costs it gas. */
export interface TakenId {
  /** Nothing was opened under it by this wallet. */
  readonly orderId: Hex
  /** Name it to the platform's operator, who can withdraw its clearance. */
  readonly by: Hex
  /** How often it has happened to this order. */
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
  /** Of the waits before an order is sealed under another id. */
  readonly timing: RetryTiming
}

/**
 * Places orders: seal, open the escrow, submit. They are sealed and opened one after the other, as the enclave
 * refuses a nonce that is below an earlier opened order's.
 *
 * @returns a function that throws NotSubmittedError once the escrow is open, and before that what its steps throw
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

/** The institution is informational in an intent: the enclave asks the registry itself. */
function institutionOf(wallet: Wallet, { registry }: Platform): Promise<Hex> {
  const contract = createContract({ wallet, address: registry, abi: institutionRegistryAbi })
  return wallet.account().then((account) => contract.read<Hex>('orgOf', [account], bytes32Schema))
}
