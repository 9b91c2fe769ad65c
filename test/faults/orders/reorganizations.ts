import { Interface, type JsonRpcProvider, Transaction, Wallet } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../../src/chain/generated/orderEscrowAbi.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { encodeOpeningCall } from '../../../src/chain/openingCall.js'
import { addressSchema, sameAddress } from '../../../src/protocol/address.js'
import { bytes32Schema } from '../../../src/protocol/hex.js'
import { openingDigest } from '../../../src/protocol/opening.js'
import { signDigest } from '../../../src/protocol/signature.js'
import { USDC_DOMAIN } from '../../support/openings.js'
import { createRandom, type Random } from '../engine/random.js'
import { count, createTimetable } from '../engine/storm.js'
import type { PlannedReorg } from './plan.js'
import type { Desk } from './platform.js'
import type { Traders } from './traders.js'

/** How often an employee has another opening mined in an opening's place, and a transaction waits in the pool again. */
const REPLACED = 0.3
const DELAYED = 0.3
/** The other opening escrows one base unit of USDC. */
const CHEAP = 1n

const escrowInterface = new Interface(orderEscrowAbi)
const blockSchema = z.object({ transactions: z.array(bytes32Schema) })
const rawSchema = z.string().regex(/^0x[0-9a-f]+$/)
const seconds = z.bigint().transform(Number)
const openingSchema = z.object({
  account: addressSchema,
  orderId: bytes32Schema,
  commit: bytes32Schema,
  deadline: seconds,
  validBefore: seconds,
})

/** Removes the chain's latest blocks, and puts as many others in their place. */
export function createReorganizations({ sandbox, miner }: Desk, traders: Traders) {
  const { provider } = sandbox
  const { chainId, contracts } = sandbox.info
  const place = {
    ...{ chainId, escrow: contracts.orderEscrow },
    usdc: { address: contracts.usdc, ...USDC_DOMAIN },
  }
  const struck: string[] = []

  async function transactionsOf(block: number): Promise<Transaction[]> {
    const answer: unknown = await provider.send('eth_getBlockByNumber', [toQuantity(block), false])
    const { transactions } = blockSchema.parse(answer)
    const raws = transactions.map((hash) => provider.send('eth_getRawTransactionByHash', [hash]))
    return (await Promise.all(raws)).map((raw) => Transaction.from(rawSchema.parse(raw)))
  }

  /** An opening of the same order for one base unit, in the place of an employee's own. */
  async function cheaper(transaction: Transaction): Promise<Transaction | undefined> {
    const { to, data, from } = transaction
    const opener = sandbox.accounts.employees.find(
      ({ address }) => from !== null && sameAddress(address, from),
    )
    const call = to === null ? null : escrowInterface.parseTransaction({ data })
    if (opener === undefined || call?.name !== 'openBuyFor') return undefined
    const order = { ...openingSchema.parse(call.args[0].toObject()), amount: CHEAP }
    // An order that is not placed yet would be opened again under another id.
    if (!traders.placed.has(order.orderId)) return undefined
    const sig = signDigest(openingDigest(order, place), opener.privateKey)
    const { nonce, gasLimit, type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction
    const fees = type === 2 ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice }
    const raw = await new Wallet(opener.privateKey).signTransaction({
      ...{ to, chainId, nonce, gasLimit, type },
      ...fees,
      data: encodeOpeningCall(order, sig),
    })
    struck.push('opening replaced')
    return Transaction.from(raw)
  }

  async function strike({ depth, seed }: PlannedReorg): Promise<void> {
    const random = createRandom(seed)
    const head = await provider.getBlockNumber()
    const blocks = Array.from({ length: depth }, (_, index) => head - depth + 1 + index)
    const removed = (await Promise.all(blocks.map(transactionsOf))).flat()
    const shuffled: Transaction[] = []
    for (const transaction of shuffle(random, removed)) {
      const other = random.chance(REPLACED) ? await cheaper(transaction) : undefined
      shuffled.push(other ?? transaction)
    }
    const { mined, delayed } = split(random, shuffled)
    const places = mined.map(() => random.integer(0, depth - 1)).toSorted((a, b) => a - b)
    const pairs = mined.map(({ serialized }, index) => [serialized, places[index]])
    await provider.send('anvil_reorg', [depth, pairs])
    // The replaced blocks' seconds are lost to anvil's clock: after many, the enclave would find each head too old.
    await provider.send('evm_setNextBlockTimestamp', [await timeAfter(provider)])
    struck.push('reorganization')
    // The pool refuses a transaction that it still holds.
    for (const { serialized } of delayed) {
      await provider.send('eth_sendRawTransaction', [serialized]).catch(() => undefined)
    }
  }

  const reorgs = createTimetable((reorg: PlannedReorg) => miner.between(() => strike(reorg)))

  return {
    begin: reorgs.begin,
    calm: reorgs.ended,
    /** Counts reorganizations and replaced openings. */
    struck: () => count(struck.map((kind) => `chain ${kind}`)),
  }
}

/** Shuffles them, but each account's transactions keep the order of their nonces. */
function shuffle(random: Random, transactions: readonly Transaction[]): Transaction[] {
  const senders = random.shuffled(transactions.map(({ from }) => from))
  const left = [...transactions]
  return senders.flatMap((sender) =>
    left.splice(
      left.findIndex(({ from }) => from === sender),
      1,
    ),
  )
}

/** Splits those that come back in a block at once from delayed ones. A delayed one delays all later ones of its account. */
function split(random: Random, transactions: readonly Transaction[]) {
  const waiting = new Set<string | null>()
  const [mined, delayed]: [Transaction[], Transaction[]] = [[], []]
  for (const transaction of transactions) {
    if (random.chance(DELAYED)) waiting.add(transaction.from)
    ;(waiting.has(transaction.from) ? delayed : mined).push(transaction)
  }
  return { mined, delayed }
}

/** Unix seconds of the next block: now, or right after the newest one. */
async function timeAfter(provider: JsonRpcProvider): Promise<number> {
  const { timestamp } = (await provider.getBlock('latest')) ?? { timestamp: 0 }
  return Math.max(Math.floor(Date.now() / 1_000), timestamp + 1)
}
