import { z } from 'zod'
import type { Answer, TrueNode } from './node.js'

const blockSchema = z.looseObject({ number: z.string(), baseFeePerGas: z.string() })

/**
 * As of a chain without a base fee. The contracts need a newer chain than the last that had none, so it is hidden: blocks
 * don't tell it, and nobody knows its history. What a transaction has to offer is as before.
 */
export function withoutBaseFee({ ask, call }: TrueNode): TrueNode {
  return {
    call,
    async ask(calls) {
      const histories = new Set(calls.filter(({ method }) => method === 'eth_feeHistory').map(({ id }) => id))
      const answers = await ask(calls)
      return answers.map((answer) => (histories.has(answer.id) ? unknownMethod(answer) : hidden(answer)))
    },
  }
}

function unknownMethod({ id }: Answer): Answer {
  return { id, error: { code: -32_601, message: 'the method eth_feeHistory does not exist' } }
}

function hidden(answer: Answer): Answer {
  const block = blockSchema.safeParse(answer.result)
  if (!block.success) return answer
  const { baseFeePerGas: _, ...others } = block.data
  return { ...answer, result: others }
}
