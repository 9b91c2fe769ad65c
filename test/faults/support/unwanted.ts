import { Transaction } from 'ethers'
import type { Answer, Call, TrueNode } from './node.js'

/** Transactions that no node takes, whatever they offer. */
export interface Unwanted {
  /** Whether there is a transaction among these that no node has heard of yet, under any price. */
  canChoose(calls: readonly Call[]): boolean
  /** The first such one is refused from now on, under its nonce. */
  choose(calls: readonly Call[]): void
  /** The node, as it treats them. */
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

/** Of a call that sends what somebody has asked for. A no-op is always welcome. */
function keyOf({ method, params }: Call): string[] {
  if (method !== 'eth_sendRawTransaction') return []
  const { nonce, data } = Transaction.from(String(params[0]))
  return data === '0x' ? [] : [`${nonce} ${data}`]
}
