// Two ways to play blocks of transactions on the local chain. Both begin with the state as it is, and leave it so.

import { toQuantity } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../../../src/protocol/hex.js'
import type { TestChain } from '../chain.js'
import { type RpcCall, rpcBatch } from '../jsonRpc.js'
import { type Census, createCensus } from './census.js'
import { errorName } from './codec.js'

/** Transactions in their order, at a time in Unix seconds. */
export interface Block {
  time: number
  transactions: { from: Hex; to: Hex; data: string }[]
}

export interface Result {
  /** The revert's name per transaction, null for success. */
  outcomes: (string | null)[]
  /** Taken after that block. */
  census: Census
}

/** Plays blocks and tells what came of each. */
export type Engine = (blocks: Block[]) => Promise<Result[]>

/** Enough for every transaction, so that nothing is estimated. */
const GAS = toQuantity(500_000)

const simulatedSchema = z.array(
  z.object({ calls: z.array(z.object({ status: z.string(), returnData: z.string() })) }),
)

/** The node executes all blocks in one request (`eth_simulateV1`) and keeps nothing: fast. */
export function createSimulation(chain: TestChain): Engine {
  const census = createCensus(chain)
  return async (blocks) => {
    const blockStateCalls = blocks.map(({ time, transactions }) => ({
      blockOverrides: { time: toQuantity(time) },
      calls: [...transactions.map((transaction) => ({ ...transaction, gas: GAS })), ...census.calls],
    }))
    const [answer] = await rpcBatch(chain.anvil.rpcUrl, [['eth_simulateV1', { blockStateCalls }, 'latest']])
    return simulatedSchema.parse(answer).map(({ calls }, index) => {
      const count = blocks[index]?.transactions.length ?? 0
      const outcome = ({ status, returnData }: { status: string; returnData: string }) =>
        status === '0x1' ? null : errorName(returnData)
      return {
        outcomes: calls.slice(0, count).map(outcome),
        census: census.parse(calls.slice(count).map(({ returnData }) => returnData)),
      }
    })
  }
}

/** Within a block the better-paying transaction comes first: each pays less than the one before it. */
const FIRST_GAS_PRICE = 100_000_000_000

const traceSchema = z.object({
  transactionPosition: z.number(),
  traceAddress: z.array(z.number()),
  error: z.string().optional(),
  result: z.object({ output: z.string() }).nullish(),
})

/** The transactions go through the node's pool into mined blocks. Mining must be on demand. */
export function createMining(chain: TestChain): Engine {
  const url = chain.anvil.rpcUrl
  const census = createCensus(chain)

  /** Gives each transaction its sender's next nonce, so that they can all be sent at once. */
  async function numbered(transactions: Block['transactions']) {
    const senders = [...new Set(transactions.map(({ from }) => from))]
    const counts = await rpcBatch(
      url,
      senders.map((from): RpcCall => ['eth_getTransactionCount', from, 'latest']),
    )
    const nonces = new Map(senders.map((from, index): [Hex, number] => [from, Number(counts[index])]))
    return transactions.map((transaction) => {
      const nonce = nonces.get(transaction.from) ?? 0
      nonces.set(transaction.from, nonce + 1)
      return { ...transaction, nonce: toQuantity(nonce) }
    })
  }

  async function mine({ time, transactions }: Block): Promise<Result> {
    const sends = (await numbered(transactions)).map(
      (transaction, index): RpcCall => [
        'eth_sendTransaction',
        { ...transaction, gas: GAS, gasPrice: toQuantity(FIRST_GAS_PRICE - index) },
      ],
    )
    await rpcBatch(url, sends)
    await rpcBatch(url, [['evm_mine', { timestamp: toQuantity(time), blocks: 1 }]])
    const reads = census.calls.map((call): RpcCall => ['eth_call', call, 'latest'])
    const [traces, ...results] = await rpcBatch(url, [['trace_block', 'latest'], ...reads])
    const outcomes = z
      .array(traceSchema)
      .parse(traces)
      .filter(({ traceAddress }) => traceAddress.length === 0)
      .sort((a, b) => a.transactionPosition - b.transactionPosition)
      .map(({ error, result }) => (error === undefined ? null : errorName(result?.output ?? '0x')))
    return { outcomes, census: census.parse(results.map(String)) }
  }

  return async (blocks) => {
    const [snapshot] = await rpcBatch(url, [['evm_snapshot']])
    const results: Result[] = []
    for (const block of blocks) results.push(await mine(block))
    await rpcBatch(url, [['evm_revert', snapshot]])
    return results
  }
}
