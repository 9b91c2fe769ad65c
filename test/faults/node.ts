// The real node, and the other nodes that it is shown as.
import * as z from 'zod'
import { quantitySchema } from '../../src/chain/jsonRpc.js'

const callSchema = z.object({ id: z.int(), method: z.string(), params: z.array(z.unknown()) })
/** One call of a batch. */
export type Call = z.output<typeof callSchema>
export const callsSchema = z.array(callSchema)

const answerSchema = z.looseObject({ id: z.int(), result: z.unknown().optional() })
/** The node's answer to one call. */
export type Answer = z.output<typeof answerSchema>

export type TrueNode = ReturnType<typeof createTrueNode>

export function createTrueNode(url: string) {
  async function ask(calls: readonly Call[]): Promise<Answer[]> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
    })
    return z.array(answerSchema).parse(await response.json())
  }
  return {
    ask,
    /** Makes one call of the storm's own. @throws when it is refused */
    async call(method: string, params: unknown[]): Promise<unknown> {
      const [answer] = await ask([{ id: 0, method, params }])
      if (answer === undefined || !('result' in answer)) throw new Error(`the node refused ${method}`)
      return answer.result
    },
  }
}

/** The index of the parameter that names a block. */
const TAG_AT: Record<string, number> = {
  eth_getBlockByNumber: 0,
  eth_feeHistory: 1,
  eth_getTransactionCount: 1,
  eth_getBalance: 1,
  eth_call: 1,
  eth_estimateGas: 1,
}
const RECEIPT = 'eth_getTransactionReceipt'
const minedSchema = z.looseObject({ blockNumber: quantitySchema })

/** Whether a node that trails would answer any of these differently. */
export function tellsTheTime(calls: readonly Call[]): boolean {
  return calls.some(({ method }) => method === RECEIPT || method in TAG_AT)
}

/** Answers like a node that is `blocks` behind and knows no pool. */
export async function askLagging(node: TrueNode, calls: readonly Call[], blocks: number): Promise<Answer[]> {
  const head = quantitySchema.parse(await node.call('eth_blockNumber', [])) - BigInt(blocks)
  const answers = await node.ask(calls.map((call) => asOf(call, head)))
  const tooNew = new Set(calls.filter((call) => asksBeyond(call, head)).map(({ id }) => id))
  return answers.map((answer) => {
    const receipt = minedSchema.safeParse(answer.result)
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
