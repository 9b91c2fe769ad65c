// The real node, and the other nodes that it is shown as.
import { Transaction } from 'ethers'
import { z } from 'zod'
import { quantitySchema } from '../../src/chain/jsonRpc.js'

const callSchema = z.object({ id: z.int(), method: z.string(), params: z.array(z.unknown()) })
/** One call of a batch. */
export type Call = z.output<typeof callSchema>
export const callsSchema = z.array(callSchema)

const answerSchema = z.looseObject({ id: z.int(), result: z.unknown().optional() })
/** The node's answer to one call. */
export type Answer = z.output<typeof answerSchema>

/** The real node. */
export interface TrueNode {
  ask(calls: readonly Call[]): Promise<Answer[]>
  /** Makes one call of the storm's own. @throws when it is refused */
  call(method: string, params: unknown[]): Promise<unknown>
}

export function createTrueNode(url: string): TrueNode {
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
    async call(method, params) {
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

/** Transactions that no node takes at any price. */
export interface Unwanted {
  /** Whether one of these transactions has reached no node yet, at any price. */
  canChoose(calls: readonly Call[]): boolean
  /** Refuses the first such transaction from now on, under its nonce. */
  choose(calls: readonly Call[]): void
  /** The node with these refusals. */
  around(node: TrueNode): TrueNode
}

const REFUSAL = { code: -32_000, message: 'exceeds block gas limit' }

export function createUnwanted(): Unwanted {
  const heard = new Set<string>()
  const refused = new Set<string>()

  function find(calls: readonly Call[]): string | undefined {
    return calls.flatMap(keyOf).find((key) => !heard.has(key))
  }

  return {
    canChoose: (calls) => find(calls) !== undefined,
    choose(calls) {
      const key = find(calls)
      if (key !== undefined) refused.add(key)
    },
    around: ({ ask, call }) => ({
      call,
      async ask(calls) {
        const isRefused = (one: Call) => keyOf(one).some((key) => refused.has(key))
        const taken = calls.filter((one) => !isRefused(one))
        for (const key of taken.flatMap(keyOf)) heard.add(key)
        const answers: Answer[] = taken.length > 0 ? await ask(taken) : []
        return [...answers, ...calls.filter(isRefused).map(({ id }) => ({ id, error: REFUSAL }))]
      },
    }),
  }
}

/** Names the transaction of a call that was asked for. A no-op is always welcome. */
function keyOf({ method, params }: Call): string[] {
  if (method !== 'eth_sendRawTransaction') return []
  const { nonce, data } = Transaction.from(String(params[0]))
  return data === '0x' ? [] : [`${nonce} ${data}`]
}
