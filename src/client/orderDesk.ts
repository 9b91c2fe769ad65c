// Opens, keeps and ends orders. It is loaded with the first of them: who only looks needs none of it.
import type { OrderReceived } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { cancelOrder } from './cancelOrder.js'
import type { ClientParts } from './clientParts.js'
import type { Mined } from './contract.js'
import { createEscrow } from './escrow.js'
import type { CallOptions } from './http.js'
import { createKeptOrders, type ResumeOptions } from './keptOrders.js'
import type { Keyring } from './keyring.js'
import { createOpenings, type OpeningState } from './openings.js'
import type { OrderRequest } from './orderIntent.js'
import { createOrderPosting, type OrderPosting } from './orderPosting.js'
import type { KeptOrder, OrderStore } from './orderStore.js'
import type { Orders } from './orders.js'
import { createOrderPlacing, openSigned, type PlanOptions } from './placeOrder.js'
import { abortable, withRetries } from './retry.js'
import type { SignedOrder, SubmittableOrder } from './sealedOrder.js'
import type { Wallet } from './wallet.js'

interface OrderDeskDeps extends Pick<ClientParts, 'within' | 'contracts' | 'platform' | 'http' | 'timing'> {
  /** The client's own: they end with no call. */
  readonly wallet: Wallet
  readonly keys: Keyring
  readonly orders: Pick<Orders, 'getOrder'>
  readonly store: OrderStore
  /** Whether the enclave's program is judged once more before an order is sent. */
  readonly isJudged: boolean
}

/** The methods of a client that act on an order, by their names there. */
export function createOrderDesk(deps: OrderDeskDeps) {
  const { wallet, keys, store, within, contracts, platform, timing, isJudged } = deps
  const posting = createOrderPosting(deps)
  /** Prompts, blocks or days lie between sealing and sending, in which the enclave's program can be revoked. */
  const submit: OrderPosting['submit'] = async (order, call) => {
    if (isJudged) await withRetries(() => platform(call), timing, call?.signal)
    return posting.submit(order, call)
  }
  const orders = { getOrder: deps.orders.getOrder, submit }
  const openings = createOpenings(wallet)
  const kept = createKeptOrders({ store, wallet, openings, orders, contracts })
  const placing = createOrderPlacing({ wallet, platform, keys, orders, openings, kept, timing })
  const escrow = async (call?: CallOptions) =>
    createEscrow({ ...within(call), contracts: await contracts(call) })
  return {
    forgetEnded: (order: KeptOrder) => kept.forgetEnded(order),
    placeOrder: placing.place,
    submitOrder: submit,
    plan: (request: OrderRequest, call?: PlanOptions) => abortable(placing.plan(request, call), call?.signal),
    getKeptOrders: (call?: CallOptions) => abortable(kept.list(call), call?.signal),
    resumeOrder: (orderId: Hex, call?: ResumeOptions) => abortable(kept.resume(orderId, call), call?.signal),
    async canSponsor(call?: CallOptions): Promise<boolean> {
      const known = await platform(call)
      return known.takesOpenings && abortable(openings.isOffered(known), call?.signal)
    },
    getOpeningState: async (order: SignedOrder, call?: CallOptions): Promise<OpeningState> =>
      createOpenings(within(call).wallet).stateOf(order, await contracts(call)),
    openOrder: async (order: SubmittableOrder & SignedOrder, call?: CallOptions): Promise<OrderReceived> =>
      openSigned(order, { ...within(call), contracts: await contracts(call), openings, orders }, call),
    cancelOrder: async (orderId: Hex, call?: CallOptions): Promise<OrderReceived> =>
      cancelOrder(orderId, { ...within(call), posting, platform: await platform(call) }, call),
    reclaimOrder: async (orderId: Hex, call?: CallOptions): Promise<Mined> =>
      (await escrow(call)).reclaim(orderId),
    setAllowance: async (usdc: bigint, call?: CallOptions): Promise<Mined> =>
      (await escrow(call)).allow(usdc),
  }
}
