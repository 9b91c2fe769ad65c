import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { createCrowd, MOST_OPEN, openRounds, post, type UnpostedOrder } from './crowd.js'
import type { LoadRequest } from './load.js'
import type { Platform } from './platform.js'
import { untilQuiet } from './processes.js'

/**
 * Opens that many escrows on the chain, each with the commit of an envelope that is really sealed to the enclave. The accounts
 * have no rulebook, so the enclave refuses and refunds.
 */
export async function openOrders(sandbox: Sandbox, count: number): Promise<UnpostedOrder[]> {
  const accounts = Math.ceil(count / MOST_OPEN)
  const crowd = await createCrowd(sandbox, accounts, { published: false })
  return (await openRounds(sandbox, crowd, Math.ceil(count / accounts))).slice(0, count)
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

/** Requests of a frontend, each of which costs the server something. */
export async function pageRequests(platform: Platform): Promise<LoadRequest[]> {
  const [employee] = platform.sandbox.accounts.employees
  return (await openAndPost(platform, 6)).flatMap((order): LoadRequest[] => [
    postRequest(order),
    { method: 'GET', path: `/orders/${order.orderId}` },
    { method: 'GET', path: `/wallet/${employee.address}` },
  ])
}

export function newOrderIds(count: number): Hex[] {
  return Array.from({ length: count }, () => bytesToHex(randomBytes(32)))
}
