// Plays a sequence of steps on the chain and on the model, and reads what came of it.

import { toQuantity } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../../../src/protocol/hex.js'
import type { ContractKey, TestChain } from '../chain.js'
import { USDC } from '../institution.js'
import { type RpcCall, rpcBatch } from '../jsonRpc.js'
import { ROLES, type Role } from '../roles.js'
import { encodeCall, errorName } from './codec.js'
import { createDigests } from './digests.js'
import { type Attempt, createModel } from './model.js'
import { HOLDERS, type Holder, initialState, type ModelState } from './state.js'
import { type Step, SYMBOLS } from './steps.js'

/** Enough for every step, so that nothing is estimated. */
const STEP_GAS = 500_000
/** Transactions of one block are ordered by price: each step pays less than the one before it. */
const FIRST_GAS_PRICE = 100_000_000_000

const traceSchema = z.object({
  transactionPosition: z.number(),
  traceAddress: z.array(z.number()),
  error: z.string().optional(),
  result: z.object({ output: z.string() }).nullish(),
})

/** A step as it went: what the model said and what the chain did. */
export interface Played {
  step: Step
  expected: string | null
  got: string | null
}

/** Balances by asset and holder, and the supplies, as the chain has them. */
export interface Census {
  balances: Map<Hex, Map<Holder, bigint>>
  supply: Map<Hex, bigint>
}

export interface Played50 {
  played: Played[]
  state: ModelState
  census: Census
}

/** The chain must be set up, with mining on demand. Each call starts from that same state, and restores it. */
export async function createRunner(chain: TestChain) {
  const url = chain.anvil.rpcUrl
  const digestOf = createDigests(chain)
  const baseTime = await chain.now()
  const baseBlock = await chain.provider.getBlockNumber()
  const baseNonces = new Map<Role, number>()
  for (const role of ROLES) {
    baseNonces.set(role, await chain.provider.getTransactionCount(chain.account(role)))
  }

  return async function play(steps: Step[]): Promise<Played50> {
    const [snapshot] = await rpcBatch(url, [['evm_snapshot']])
    const state = initialState(baseTime)
    const apply = createModel(chain, state, digestOf)
    const nonces = new Map(baseNonces)
    const expected: (string | null)[] = []
    const blocks: string[] = []
    for (const block of intoBlocks(steps)) {
      state.time += Math.max(1, block[0]?.elapsed ?? 0)
      const attempts = block.map(({ action }) => apply(action))
      expected.push(...attempts.map((attempt) => attempt.expected))
      await rpcBatch(
        url,
        attempts.map((attempt, index) => transactionOf(attempt, index, nonces)),
      )
      await rpcBatch(url, [['evm_mine', { timestamp: toQuantity(state.time), blocks: 1 }]])
      blocks.push(toQuantity(baseBlock + blocks.length + 1))
    }
    const got = await outcomes(blocks)
    const census = await takeCensus()
    await rpcBatch(url, [['evm_revert', snapshot]])
    const played = steps.map((step, index) => ({
      step,
      expected: expected[index] ?? null,
      got: got[index] ?? null,
    }))
    if (got.length !== steps.length) throw new Error(`${got.length} of ${steps.length} steps were mined`)
    return { played, state, census }
  }

  function transactionOf({ from, call }: Attempt, index: number, nonces: Map<Role, number>): RpcCall {
    const [contract, method, ...args] = call
    const nonce = nonces.get(from) ?? 0
    nonces.set(from, nonce + 1)
    const transaction = {
      from: chain.account(from),
      to: chain.addressOf(contract),
      data: encodeCall(contract, method, args),
      nonce: toQuantity(nonce),
      gas: toQuantity(STEP_GAS),
      gasPrice: toQuantity(FIRST_GAS_PRICE - index),
    }
    return ['eth_sendTransaction', transaction]
  }

  /** The revert names of the blocks' transactions in their order, null where one succeeded. */
  async function outcomes(blocks: string[]): Promise<(string | null)[]> {
    const traces = await rpcBatch(
      url,
      blocks.map((block) => ['trace_block', block]),
    )
    return traces.flatMap((block) =>
      z
        .array(traceSchema)
        .parse(block)
        .filter(({ traceAddress }) => traceAddress.length === 0)
        .sort((a, b) => a.transactionPosition - b.transactionPosition)
        .map(({ error, result }) => (error === undefined ? null : errorName(result?.output ?? '0x'))),
    )
  }

  async function takeCensus(): Promise<Census> {
    const addressOf = (holder: Holder): Hex =>
      holder === 'escrow' || holder === 'pool' ? chain.addressOf(holder) : chain.account(holder)
    const read = (contract: ContractKey, method: string, ...args: unknown[]): RpcCall => [
      'eth_call',
      { to: chain.addressOf(contract), data: encodeCall(contract, method, args) },
      'latest',
    ]
    const calls = [
      ...HOLDERS.map((holder) => read('usdc', 'balanceOf', addressOf(holder))),
      ...SYMBOLS.flatMap((symbol) =>
        HOLDERS.map((holder) => read('token', 'balanceOf', addressOf(holder), BigInt(symbol))),
      ),
      ...SYMBOLS.map((symbol) => read('token', 'totalSupply', BigInt(symbol))),
    ]
    const values = (await rpcBatch(url, calls)).map((value) => BigInt(String(value)))
    const next = () => values.shift() ?? 0n
    const holdings = () => new Map(HOLDERS.map((holder): [Holder, bigint] => [holder, next()]))
    const balances = new Map(
      [USDC, ...SYMBOLS].map((asset): [Hex, Map<Holder, bigint>] => [asset, holdings()]),
    )
    return { balances, supply: new Map(SYMBOLS.map((symbol): [Hex, bigint] => [symbol, next()])) }
  }
}

/** Steps of one block together: a step that comes later than the one before it begins the next. */
function intoBlocks(steps: Step[]): Step[][] {
  const blocks: Step[][] = []
  for (const step of steps) {
    const last = blocks.at(-1)
    if (last && step.elapsed === 0) last.push(step)
    else blocks.push([step])
  }
  return blocks
}
