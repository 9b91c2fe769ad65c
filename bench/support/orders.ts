import { randomBytes } from 'node:crypto'
import { Interface, type JsonRpcProvider, toQuantity } from 'ethers'
import { z } from 'zod'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { compiledFixture } from '../../test/contracts/fixtures/compiled.js'
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

const GAS_LIMIT = toQuantity(16_000_000)

interface Emission {
  readonly escrow: Hex
  readonly from: Hex
  readonly orderIds: readonly Hex[]
  /** Each block has one transaction with so many events. */
  readonly perBlock: number
}

/**
 * Makes the escrow emit an event for each order, many in one transaction: a contract for that purpose takes its place for that
 * time. Opening and settling as many orders would take hours.
 */
export async function emitOrders(
  provider: JsonRpcProvider,
  method: 'open' | 'settle',
  { escrow, from, orderIds, perBlock }: Emission,
): Promise<void> {
  const { abi, bytecode } = await compiledFixture('OrderEmitter')
  const emitter = new Interface(JSON.stringify(abi))
  const code = await provider.getCode(escrow)
  // A call that creates a contract returns the contract's code.
  await provider.send('anvil_setCode', [escrow, await provider.call({ data: `0x${bytecode}` })])
  for (let at = 0; at < orderIds.length; at += perBlock) {
    const data = emitter.encodeFunctionData(method, [orderIds.slice(at, at + perBlock)])
    const transaction = { from, to: escrow, data, gas: GAS_LIMIT }
    const hash = z.string().parse(await provider.send('eth_sendTransaction', [transaction]))
    if ((await provider.getTransactionReceipt(hash)) === null) await provider.send('evm_mine', [])
    const receipt = await waitForReceipt(provider, hash)
    if (receipt?.status !== 1) throw new Error('events were not emitted')
  }
  await provider.send('anvil_setCode', [escrow, code])
}
