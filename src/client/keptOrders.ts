import { sameAddress } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import type { CallOptions } from './http.js'
import { type Openings, partOf } from './openings.js'
import type { OrderPosting } from './orderPosting.js'
import type { KeptOrder, OrderStore } from './orderStore.js'
import type { Platform, PlatformContracts } from './platform.js'
import type { SealedOrder } from './sealedOrder.js'
import type { Wallet } from './wallet.js'

/**
 * What became of a kept order: it has `ended`, or can no longer be opened and is `void`, and is forgotten; it is open, and was `submitted`.
 * One that is `signed` or `unopened` stays kept: its signature, or a transaction that the wallet may still send, can open it.
 */
export type Resumed = 'ended' | 'void' | 'submitted' | 'signed' | 'unopened'

export interface ResumeOptions extends CallOptions {
  /**
   * Submits an order that is signed and not open, too: the platform may open it then. By default it stays `signed`, for its person to
   * decide.
   */
  readonly sendSigned?: boolean | undefined
}

/** What an earlier visit left. */
export interface OrderKeeping {
  /**
   * The orders of this wallet that the client's store keeps: they have not ended as far as it knows. With a pinned escrow it needs no server.
   * @example for (const { orderId, deadline } of await client.getKeptOrders()) console.log(orderId, deadline)
   */
  getKeptOrders(options?: CallOptions): Promise<readonly KeptOrder[]>
  /**
   * Takes up a kept order where a closed page, or a process that was killed, left it: asks the chain, submits an order that is open, and
   * forgets one that has ended or can never open. With `sendSigned` it submits a signed one again. Asks the wallet for nothing. Idempotent.
   * @throws ClientError `no-kept-order`, also for one of another chain or escrow, `invalid-kept-order`, and the errors of `submitOrder`
   * @example for (const kept of await client.getKeptOrders()) console.log(await client.resumeOrder(kept.orderId))
   */
  resumeOrder(orderId: Hex, options?: ResumeOptions): Promise<Resumed>
}

interface KeptOrdersDeps {
  readonly store: OrderStore
  readonly wallet: Wallet
  readonly openings: Openings
  readonly orders: Pick<OrderPosting, 'submit'>
  readonly contracts: (options?: CallOptions) => Promise<PlatformContracts>
}

/** The orders that the caller's store keeps of this wallet. */
export function createKeptOrders({ store, wallet, openings, orders, contracts }: KeptOrdersDeps) {
  async function look(order: KeptOrder, options?: CallOptions) {
    const { orderId, commit, account, deadline: openableUntil, opening } = order
    const part =
      opening === undefined
        ? { orderId, commit, account, openableUntil }
        : partOf({ orderId, commit, opening })
    return openings.look(part, await contracts(options))
  }

  /** Another deployment knows nothing of an order, which may be open all the same. */
  async function ofHere(options?: CallOptions): Promise<(order: KeptOrder) => boolean> {
    const [chainId, { escrow }] = await Promise.all([wallet.chainId(), contracts(options)])
    return (order) => order.chainId === chainId && sameAddress(order.escrow, escrow)
  }

  async function list(options?: CallOptions): Promise<readonly KeptOrder[]> {
    const all = await store.list()
    if (all.length === 0) return all
    const [account, isHere] = await Promise.all([wallet.account(), ofHere(options)])
    return all.filter((order) => isHere(order) && sameAddress(order.account, account))
  }

  return {
    list,
    /** Durable once this resolves. @throws ClientError `order-not-kept` */
    async keep({ orderId, commit, envelope, opening, intent }: SealedOrder, platform: Platform) {
      const { chainId, escrow } = platform
      const place = { chainId, escrow, account: intent.account, deadline: intent.expiry }
      try {
        await store.keep({ ...place, orderId, commit, envelope, ...(opening && { opening }) })
      } catch (cause) {
        const message =
          'This device could not keep the order, so it was not opened. Free some storage, or allow it.'
        throw new ClientError('order-not-kept', message, { cause })
      }
    },
    /** A store that fails to forget costs a file: the order is looked at again, and forgotten then. */
    forget: (orderId: Hex) => store.forget(orderId).catch(() => undefined),
    /** Forgets an order that the server calls ended, if the chain does. Its envelope is of use until then. */
    async forgetEnded(order: KeptOrder): Promise<void> {
      const { isEnded } = await look(order).catch(() => ({ isEnded: false }))
      if (isEnded) await this.forget(order.orderId)
    },
    /** Does what is left to do of a kept order. Idempotent. */
    async resume(orderId: Hex, { sendSigned = false, ...options }: ResumeOptions = {}): Promise<Resumed> {
      const order = await store.find(orderId)
      if (order === null || !(await ofHere(options))(order)) {
        throw new ClientError('no-kept-order', 'This device keeps no such order of this chain and escrow.')
      }
      const { state, isEnded } = await look(order, options)
      if (state === 'open' && !isEnded) {
        await orders.submit({ ...order, opening: undefined }, options)
        return 'submitted'
      }
      if (state === 'usable') {
        if (order.opening === undefined) return 'unopened'
        if (!sendSigned) return 'signed'
        await orders.submit(order, options)
        return 'submitted'
      }
      await this.forget(orderId)
      return isEnded ? 'ended' : 'void'
    },
  }
}

export type KeptOrders = ReturnType<typeof createKeptOrders>
