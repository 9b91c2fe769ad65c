import type { Sandbox } from '../../src/sandbox/sandbox.js'
import {
  createSealer,
  createWallets,
  expiryOn,
  MOST_OPEN,
  openAll,
  post,
  type UnpostedOrder,
} from '../../test/support/crowd.js'
import type { LoadRequest } from './load.js'
import type { Platform } from './platform.js'
import { untilQuiet } from './processes.js'

/** Wallets that open in one block: a server reads at most ten thousand events at once. */
const WALLETS_PER_BLOCK = 100

/**
 * Opens that many escrows on the chain, each with the commit of an envelope that is really sealed to the enclave: sales
 * by wallets that have passed KYC and hold no shares, so that an enclave run refuses them and refunds.
 */
export async function openOrders(sandbox: Sandbox, count: number): Promise<UnpostedOrder[]> {
  const { provider } = sandbox
  const seal = createSealer(sandbox)
  const opened: UnpostedOrder[] = []
  while (opened.length < count) {
    const wallets = Math.min(WALLETS_PER_BLOCK, Math.ceil((count - opened.length) / MOST_OPEN))
    const group = await createWallets(sandbox, wallets)
    // An escrow opens only for a wallet whose KYC is in a block.
    await provider.send('evm_mine', [])
    const expiry = await expiryOn(provider)
    const orders = group.flatMap((wallet) =>
      Array.from({ length: MOST_OPEN }, (_, nonce) => seal(wallet, { side: 'SELL', expiry, nonce })),
    )
    opened.push(...(await Promise.all(orders)))
    await openAll(sandbox, opened.slice(-orders.length))
  }
  return opened.slice(0, count)
}

/** Orders that the server has stored. */
export async function openAndPost({ sandbox, server }: Platform, count: number): Promise<UnpostedOrder[]> {
  const opened = await openOrders(sandbox, count)
  for (const order of opened) await post(server.url, order)
  await untilQuiet(server)
  return opened
}

export function postRequest({ body }: UnpostedOrder): LoadRequest {
  return { method: 'POST', path: '/orders', body }
}

/** A frontend's requests, each of which costs the server something. */
export async function pageRequests(platform: Platform): Promise<LoadRequest[]> {
  const [employee] = platform.sandbox.accounts.employees
  return (await openAndPost(platform, 6)).flatMap((order): LoadRequest[] => [
    postRequest(order),
    { method: 'GET', path: `/orders/${order.orderId}` },
    { method: 'GET', path: `/wallet/${employee.address}` },
  ])
}
