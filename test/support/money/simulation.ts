// Blocks of transactions that the local chain executes in one request, and keeps nothing of.

import { AbiCoder, concat, type FunctionFragment, Interface, toQuantity } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../../../src/protocol/hex.js'
import { type ContractKey, INTERFACES, type TestChain } from '../chain.js'
import { rpcBatch } from '../jsonRpc.js'

export interface Call {
  from?: Hex
  to: Hex
  data: string
}

/** Transactions in their order, at a time in Unix seconds. */
export interface Block {
  time: number
  transactions: Call[]
}

/** The switches of the USDC that the tests of the money use (BlacklistingUsdc). */
const SWITCHES = new Interface(['function setBlacklisted(address account, bool blacklisted)'])

const coder = AbiCoder.defaultAbiCoder()
const selectors = new Map<string, { selector: string; fragment: FunctionFragment }>()
/** Solidity's own, with which USDC refuses an account that it has blacklisted. */
const errors = new Map<string, string>([['0x08c379a0', 'Error']])
for (const contract of Object.values(INTERFACES)) {
  contract.forEachError(({ selector, name }) => errors.set(selector, name))
}

/** Calldata. An ethers interface hashes a function's signature with each call; here it is hashed once. */
export function encodeCall(contract: ContractKey, method: string, args: unknown[]): string {
  const key = `${contract}.${method}`
  let known = selectors.get(key)
  if (!known) {
    const fragment = INTERFACES[contract].getFunction(method) ?? SWITCHES.getFunction(method)
    if (!fragment) throw new Error(`there is no ${key}`)
    known = { fragment, selector: fragment.selector }
    selectors.set(key, known)
  }
  return concat([known.selector, coder.encode(known.fragment.inputs, args)])
}

/** Enough for every transaction, so that nothing is estimated. */
const GAS = toQuantity(500_000)

const resultSchema = z.object({ status: z.string(), returnData: z.string() })
const simulatedSchema = z.array(z.object({ calls: z.array(resultSchema) }))

/**
 * Executes all blocks in one request (`eth_simulateV1`), from the state as it is.
 * @param reads calls at the end of each block
 * @returns for each block the revert's name by transaction, null for success, and the answers to the reads, null where one reverts
 */
export async function simulate({ anvil }: TestChain, blocks: readonly Block[], reads: readonly Call[]) {
  const blockStateCalls = blocks.map(({ time, transactions }) => ({
    blockOverrides: { time: toQuantity(time) },
    calls: [...transactions.map((transaction) => ({ ...transaction, gas: GAS })), ...reads],
  }))
  const [answer] = await rpcBatch(anvil.rpcUrl, [['eth_simulateV1', { blockStateCalls }, 'latest']])
  return simulatedSchema.parse(answer).map(({ calls }, index) => {
    const count = blocks[index]?.transactions.length ?? 0
    return {
      outcomes: calls.slice(0, count).map(({ status, returnData }) => {
        if (status === '0x1') return null
        return errors.get(returnData.slice(0, 10)) ?? `unknown ${returnData.slice(0, 10)}`
      }),
      answers: calls.slice(count).map(({ status, returnData }) => (status === '0x1' ? returnData : null)),
    }
  })
}
