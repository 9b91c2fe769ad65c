// The questions that the client asks the chain's node, through the wallet's provider.
import * as z from 'zod/mini'
import { blockSchema, quantitySchema, smallQuantitySchema, toQuantity } from '../chain/jsonRpc.js'
import { addressSchema, sameAddress } from '../protocol/address.js'
import { bytes32Schema, type Hex, hexBetween } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import type { Request } from './provider.js'
import { lookUntil, sleep } from './retry.js'

/** A block by its number, or the newest. */
export type BlockTag = number | 'latest'

export interface Call {
  readonly from?: Hex | undefined
  readonly to: Hex
  readonly data: string
}

/** The code of a contract that only runs, with its constructor's answer. */
type Lens = Pick<Call, 'data'>

/** The largest answer of a view, and the largest code. */
const MAX_ANSWER_BYTES = 1_048_576
const answerSchema = hexBetween(0, MAX_ANSWER_BYTES)
const receiptSchema = z.looseObject({
  transactionHash: bytes32Schema,
  blockNumber: smallQuantitySchema,
  status: smallQuantitySchema,
})
/** A mined transaction; `status` is 1 if it succeeded, 0 if it reverted. */
export type Receipt = z.output<typeof receiptSchema>

const transactionSchema = z.looseObject({
  hash: bytes32Schema,
  from: addressSchema,
  to: z.optional(z.nullable(addressSchema)),
  nonce: smallQuantitySchema,
  input: z.string(),
})
const blockWithTransactionsSchema = z.looseObject({ transactions: z.array(transactionSchema) })
const logSchema = z.looseObject({ transactionHash: bytes32Schema, blockNumber: smallQuantitySchema })

export type ChainReads = ReturnType<typeof createChainReads>

/**
 * Methods fail with the errors of `request`, and with ClientError `unexpected-answer`.
 * @param request fails with CallReverted where the node has run a call that reverts
 */
export function createChainReads(request: Request) {
  async function ask<T>(method: string, params: readonly unknown[], schema: z.ZodMiniType<T>): Promise<T> {
    const answer = schema.safeParse(await request(method, params))
    if (answer.success) return answer.data
    throw new ClientError('unexpected-answer', `The node did not answer ${method} as documented.`, {
      cause: answer.error,
    })
  }
  const tagOf = (block: BlockTag) => (typeof block === 'number' ? toQuantity(block) : block)
  return {
    call: (call: Call | Lens, block: BlockTag = 'latest') =>
      ask('eth_call', [call, tagOf(block)], answerSchema),
    estimateGas: (call: Call) => ask('eth_estimateGas', [call], quantitySchema),
    chainId: () => ask('eth_chainId', [], smallQuantitySchema),
    blockNumber: () => ask('eth_blockNumber', [], smallQuantitySchema),
    block: (hash: Hex) => ask('eth_getBlockByHash', [hash, false], blockSchema),
    latestBlock: () => ask('eth_getBlockByNumber', ['latest', false], blockSchema),
    code: (address: Hex) => ask('eth_getCode', [address, 'latest'], answerSchema),
    balance: (address: Hex) => ask('eth_getBalance', [address, 'latest'], quantitySchema),
    gasPrice: () => ask('eth_gasPrice', [], quantitySchema),
    /** The transactions that logged matching events. */
    logged: (filter: { address: Hex; topics: readonly string[]; fromBlock: number }) =>
      ask('eth_getLogs', [{ ...filter, fromBlock: toQuantity(filter.fromBlock) }], z.array(logSchema)),
    transactionCount: (address: Hex) =>
      ask('eth_getTransactionCount', [address, 'latest'], smallQuantitySchema),
    transaction: (hash: Hex) => ask('eth_getTransactionByHash', [hash], z.nullable(transactionSchema)),
    transactionsIn: async (block: number) =>
      (await ask('eth_getBlockByNumber', [toQuantity(block), true], z.nullable(blockWithTransactionsSchema)))
        ?.transactions ?? [],
    receipt: (hash: Hex) => ask('eth_getTransactionReceipt', [hash], z.nullable(receiptSchema)),
  }
}

/** A local chain mines at once, another within seconds. */
const [FIRST_LOOK_MS, LOOK_MS] = [20, 1_000]

interface MiningOptions {
  readonly hash: Hex
  readonly call: Call & { readonly from: Hex }
  /** The newest block before the transaction was sent. */
  readonly since: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Waits until a transaction is mined, or the same call under another fee: users speed transactions up in their wallet.
 * @throws ClientError `transaction-pending`, and `transaction-replaced` if another call has taken its nonce
 */
export async function waitUntilMined(reads: ChainReads, options: MiningOptions): Promise<Receipt> {
  const { hash, call, timeoutMs, signal } = options
  const giveUpAt = Date.now() + timeoutMs
  const findReplacement = createReplacementFinder(reads, options)
  async function look(): Promise<Receipt | null> {
    const receipt = await reads.receipt(hash)
    if (receipt !== null) return receipt
    const other = await findReplacement()
    if (other === null) return null
    if (other.input === call.data && other.to != null && sameAddress(other.to, call.to)) {
      return reads.receipt(other.hash)
    }
    throw new ClientError('transaction-replaced', `Another transaction replaced ${hash}.`)
  }
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LOOK_MS)) {
    const found = await lookUntil(giveUpAt, look)
    if (found !== null) return found
    if (Date.now() >= giveUpAt) throw new ClientError('transaction-pending', `${hash} is not mined yet.`)
    await sleep(waitMs, signal)
  }
}

/** Finds the mined transaction that has taken a transaction's nonce; null while there is none. */
function createReplacementFinder(reads: ChainReads, { hash, call: { from }, since }: MiningOptions) {
  let nonce: number | undefined
  return async () => {
    nonce ??= (await reads.transaction(hash))?.nonce
    if (nonce === undefined || (await reads.transactionCount(from)) <= nonce) return null
    for (let block = await reads.blockNumber(); block > since; block--) {
      const found = (await reads.transactionsIn(block)).find(
        (one) => one.nonce === nonce && sameAddress(one.from, from),
      )
      // Mined just now: its receipt comes with the next look.
      if (found !== undefined) return found.hash === hash ? null : found
    }
    return null
  }
}
