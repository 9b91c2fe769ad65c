import { z } from 'zod'
import { quantitySchema } from '../../../src/chain/jsonRpc.js'
import type { Answer, Call, TrueNode } from './node.js'

/** Where a call says at which block it is meant. */
const TAG_AT: Record<string, number> = {
  eth_getBlockByNumber: 0,
  eth_feeHistory: 1,
  eth_getTransactionCount: 1,
  eth_getBalance: 1,
  eth_call: 1,
  eth_estimateGas: 1,
}
const RECEIPT = 'eth_getTransactionReceipt'
const receiptSchema = z.looseObject({ blockNumber: quantitySchema })

/** Whether a node that trails would answer any of these differently. */
export function tellsTheTime(calls: readonly Call[]): boolean {
  return calls.some(({ method }) => method === RECEIPT || method in TAG_AT)
}

/** What a node would answer that is `blocks` behind. It does not know of its pool. */
export async function askLagging(node: TrueNode, calls: readonly Call[], blocks: number): Promise<Answer[]> {
  const head = quantitySchema.parse(await node.call('eth_blockNumber', [])) - BigInt(blocks)
  const answers = await node.ask(calls.map((call) => asOf(call, head)))
  const tooNew = new Set(calls.filter((call) => asksBeyond(call, head)).map(({ id }) => id))
  return answers.map((answer) => {
    const receipt = receiptSchema.safeParse(answer.result)
    const isUnseen = receipt.success && receipt.data.blockNumber > head
    return tooNew.has(answer.id) || isUnseen ? { ...answer, result: null } : answer
  })
}

function asOf(call: Call, head: bigint): Call {
  const place = TAG_AT[call.method]
  const tag = place === undefined ? undefined : call.params[place]
  if (tag !== 'latest' && tag !== 'pending') return call
  return { ...call, params: call.params.with(place ?? 0, `0x${head.toString(16)}`) }
}

function asksBeyond({ method, params }: Call, head: bigint): boolean {
  const block = quantitySchema.safeParse(params[0])
  return method === 'eth_getBlockByNumber' && block.success && block.data > head
}
