import { z } from 'zod'

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
  /** One call of the bench's own. @throws when it is refused */
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
