import { concat, Interface, type JsonRpcProvider, toQuantity } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { type OrderStatus, orderStatusSchema } from '../../src/protocol/api.js'
import { bytes32Schema, bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { registerSecp256k1 } from '../../src/protocol/secp256k1.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { registerFastKeccak } from '../../src/service/fastKeccak.js'
import { libSecp256k1 } from '../../src/service/libSecp256k1.js'
import { opensslSecp256k1 } from '../../src/service/opensslSecp256k1.js'
import {
  createSealer,
  createWallets,
  expiryOn,
  MOST_OPEN,
  post,
  type UnpostedOrder,
} from '../../test/support/crowd.js'
import type { LoadRequest } from './load.js'

export type { UnpostedOrder }

/** Agreeing on a key takes longer than all else of an order. */
const ENVELOPES_PER_KEY = 64

/** Signs, hashes and seals here as fast as the server does, with an ephemeral key for many envelopes in place of one each. */
export function registerFast(): void {
  const { agreement } = opensslSecp256k1
  let uses = 0
  let own = agreement()
  let shared = { peer: '', x: new Uint8Array() }
  registerFastKeccak()
  registerSecp256k1({
    ...opensslSecp256k1,
    ...libSecp256k1,
    agreement(privateKey) {
      if (privateKey !== undefined) return agreement(privateKey)
      if (uses++ % ENVELOPES_PER_KEY === 0) {
        own = agreement()
        shared = { peer: '', x: new Uint8Array() }
      }
      const sharedX = (peer: Uint8Array) => {
        const name = bytesToHex(peer)
        if (shared.peer !== name) shared = { peer: name, x: new Uint8Array(own.sharedX(peer)) }
        return shared.x
      }
      return { publicKey: own.publicKey, sharedX }
    },
  })
}

/** Wallets that open in one block: a server reads at most ten thousand events at once. */
const WALLETS_PER_BLOCK = 100
const GAS_LIMIT = 16_000_000
/** Wei that pay for any number of openings. */
const FUNDS = 10n ** 24n
const STATUSES_AT_ONCE = 32
/** Selector and three words of `openRequest`. */
const CALL_BYTES = 100
const escrow = new Interface(orderEscrowAbi)
const openedSchema = z.object({ orderId: bytes32Schema, commit: bytes32Schema })

/**
 * Opens that many escrows on the chain, each with the commit of an envelope that is really sealed to the enclave: sales
 * by wallets that have passed KYC and hold no shares, so that an enclave run refuses them and refunds.
 */
export async function openOrders(sandbox: Sandbox, count: number): Promise<UnpostedOrder[]> {
  const { provider, info } = sandbox
  const wallets = await createWallets(sandbox, Math.ceil(count / MOST_OPEN))
  const [payer] = await createWallets(sandbox, 1)
  if (payer === undefined) throw new Error('there is no wallet')
  await provider.send('anvil_setBalance', [payer.address, toQuantity(FUNDS)])
  const expiry = await expiryOn(provider)
  const seal = createSealer(sandbox)
  const from = await provider.getBlockNumber()
  const opened: UnpostedOrder[] = []
  let opening: Promise<void> = Promise.resolve()
  for (let at = 0; at < wallets.length; at += WALLETS_PER_BLOCK) {
    const group = wallets.slice(at, at + WALLETS_PER_BLOCK)
    const openings = await Promise.all(
      group.map(async (wallet, index) => {
        const orders = Array.from({ length: MOST_OPEN }, (_, nonce) =>
          seal(wallet, { side: 'SELL', expiry, nonce }),
        )
        return { wallet: wallet.address, nonce: at + index, orders: await Promise.all(orders) }
      }),
    )
    opened.push(...openings.flatMap(({ orders }) => orders))
    // The chain opens one group while the next is sealed here.
    await opening
    opening = openAll(provider, { escrow: info.contracts.orderEscrow, payer: payer.address }, openings)
  }
  await opening
  await assertOpened(provider, info.contracts.orderEscrow, from + 1, opened)
  return opened.slice(0, count)
}

interface Opening {
  readonly wallet: Hex
  /** The payer's, of the transaction. */
  readonly nonce: number
  readonly orders: readonly UnpostedOrder[]
}

/**
 * One transaction for each wallet in place of one for each order: for that time the wallet has code that passes each call in its
 * input on to the escrow, as a wallet has by EIP-7702.
 */
async function openAll(
  provider: JsonRpcProvider,
  { escrow: to, payer }: { escrow: Hex; payer: Hex },
  openings: readonly Opening[],
): Promise<void> {
  const setCode = (code: string) =>
    Promise.all(openings.map(({ wallet }) => provider.send('anvil_setCode', [wallet, code])))
  await setCode(forwarderTo(to))
  const hashes = await Promise.all(
    openings.map(({ wallet, nonce, orders }) => {
      const calls = orders.map(({ orderId, commit, expiry }) =>
        escrow.encodeFunctionData('openRequest', [orderId, commit, expiry]),
      )
      const gas = toQuantity(GAS_LIMIT)
      const transaction = { from: payer, to: wallet, data: concat(calls), nonce: toQuantity(nonce), gas }
      return provider.send('eth_sendTransaction', [transaction])
    }),
  )
  await waitForReceipt(provider, bytes32Schema.parse(hashes.at(-1)))
  await setCode('0x')
}

async function assertOpened(
  provider: JsonRpcProvider,
  address: Hex,
  fromBlock: number,
  orders: readonly UnpostedOrder[],
): Promise<void> {
  const topic = escrow.getEvent('OrderOpened')?.topicHash ?? null
  const logs = await provider.getLogs({ address, topics: [topic], fromBlock, toBlock: 'latest' })
  const events = logs.map((log) => openedSchema.parse(escrow.parseLog(log)?.args.toObject()))
  const commits = new Map(events.map(({ orderId, commit }) => [orderId, commit]))
  const missing = orders.filter(({ orderId, commit }) => commits.get(orderId) !== commit).length
  if (missing > 0) throw new Error(`${missing} of ${orders.length} escrows are not open`)
}

/** A program that calls this address with each 100 bytes of its input in turn, and reverts when a call does. */
function forwarderTo(address: Hex): string {
  const [loop, end, revert] = [5, 0x34, 0x36].map((at) => at.toString(16).padStart(2, '0'))
  const length = CALL_BYTES.toString(16)
  return [
    '0x365f5f375f', // CALLDATACOPY to memory; the first call begins at 0
    `5b3681101560${end}57`, // JUMPI to the end once the input is over
    `5f5f60${length}835f73${address.slice(2)}5af1`, // CALL
    `1560${revert}57`, // JUMPI when it reverted
    `60${length}0160${loop}56`, // JUMP, with the next call's place
    '5b00',
    '5b5f5ffd',
  ].join('')
}

/** One after the other. */
export async function postAll(url: string, orders: readonly UnpostedOrder[]): Promise<void> {
  for (const order of orders) await post(url, order)
}

export function postRequest({ body }: UnpostedOrder): LoadRequest {
  return { method: 'POST', path: '/orders', body }
}

/** The status of each order, as `GET /orders/:orderId` answers it. */
export async function readStatuses(
  url: string,
  orders: readonly { readonly orderId: Hex }[],
): Promise<OrderStatus[]> {
  const statuses: OrderStatus[] = []
  for (let first = 0; first < orders.length; first += STATUSES_AT_ONCE) {
    const group = orders.slice(first, first + STATUSES_AT_ONCE)
    statuses.push(...(await Promise.all(group.map(({ orderId }) => readStatus(`${url}/orders/${orderId}`)))))
  }
  return statuses
}

async function readStatus(url: string): Promise<OrderStatus> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return orderStatusSchema.parse(await response.json())
}
