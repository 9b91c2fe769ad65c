import { setTimeout as sleep } from 'node:timers/promises'
import { quantitySchema } from '../../../src/chain/jsonRpc.js'
import type { ReadFault, SendFault } from './kinds.js'
import { askLagging, tellsTheTime } from './lagging.js'
import type { Answer, Call, TrueNode } from './node.js'

/** What comes back over the connection: an answer, the connection's end, nothing at all, or half of an answer. */
export type Reply = { status: number; body: string } | 'cut' | 'silence' | { half: string }

type Treatment = (node: TrueNode, calls: readonly Call[], amount: number) => Promise<Reply>

const COUNT = 'eth_getTransactionCount'
const REFUSAL = { code: -32_005, message: 'daily request count exceeded' }

/** As a faithful node. */
export async function faithful(node: TrueNode, calls: readonly Call[]): Promise<Reply> {
  return answered(await node.ask(calls))
}

/** The node is asked, and its answers are changed on their way. */
function changed(change: (answers: Answer[], calls: readonly Call[], amount: number) => Answer[]): Treatment {
  return async (node, calls, amount) => answered(change(await node.ask(calls), calls, amount))
}

export const TREATMENTS: Record<ReadFault | Exclude<SendFault, 'unwanted'>, Treatment> = {
  cut: async () => 'cut',
  async lost(node, calls) {
    await node.ask(calls)
    return 'cut'
  },
  async late(node, calls, amount) {
    await sleep(amount)
    return faithful(node, calls)
  },
  'half-open': async () => 'silence',
  async 'half-answered'(node, calls) {
    return { half: firstHalf(JSON.stringify(await node.ask(calls))) }
  },
  garbage: async () => ({ status: 200, body: '<html>bad gateway</html>' }),
  async truncated(node, calls) {
    return { status: 200, body: firstHalf(JSON.stringify(await node.ask(calls))) }
  },
  refused: async (_node, calls) => answered(calls.map(({ id }) => ({ id, error: REFUSAL }))),
  limited: async () => ({ status: 429, body: 'too many requests' }),
  repeated: changed((answers) => [...answers, ...answers]),
  missing: changed((answers) => answers.slice(1)),
  reversed: changed((answers) => answers.toReversed()),
  empty: changed(() => []),
  'wrong-type': changed((answers) => answers.map(({ id }) => ({ id, result: { is: 'not a quantity' } }))),
  stale: async (node, calls, blocks) => answered(await askLagging(node, calls, blocks)),
  'old-nonce': changed((answers, calls, nonces) =>
    answers.map((answer) =>
      calls.some(({ id, method }) => id === answer.id && method === COUNT) ? fewer(answer, nonces) : answer,
    ),
  ),
  async twice(node, calls, amount) {
    const answers = await node.ask(calls)
    // Nobody waits for it; a node that is gone by then can't be told any more.
    void sleep(amount, undefined, { ref: false })
      .then(() => node.ask(calls))
      .catch(() => undefined)
    return answered(answers)
  },
  async forgotten(node, calls) {
    const answers = await node.ask(calls)
    for (const { result } of answers) {
      if (typeof result === 'string') await node.call('anvil_dropTransaction', [result])
    }
    return answered(answers)
  },
}

/** Whether it would make a difference to these calls. */
export function applies(kind: ReadFault | SendFault, calls: readonly Call[]): boolean {
  if (kind === 'stale') return tellsTheTime(calls)
  if (kind === 'old-nonce') return calls.some(({ method }) => method === COUNT)
  return kind === 'reversed' ? calls.length > 1 : true
}

function fewer(answer: Answer, nonces: number): Answer {
  const count = Number(quantitySchema.parse(answer.result))
  return { ...answer, result: `0x${Math.max(0, count - nonces).toString(16)}` }
}

/** What a node says. */
export function answered(answers: readonly object[]): Reply {
  return { status: 200, body: JSON.stringify(answers.map((answer) => ({ jsonrpc: '2.0', ...answer }))) }
}

function firstHalf(text: string): string {
  return text.slice(0, text.length / 2)
}
