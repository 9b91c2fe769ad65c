import { setTimeout as sleep } from 'node:timers/promises'
import { quantitySchema } from '../../src/chain/jsonRpc.js'
import { type Answer, askLagging, type Call, type TrueNode, tellsTheTime } from './node.js'
import type { Fault, KindOf } from './plan.js'

/** The end of a request: an answer, a cut connection, silence, or half of an answer. */
export type Reply = { status: number; body: string } | 'cut' | 'silence' | { half: string }

type Treatment = (node: TrueNode, calls: readonly Call[], amount: number) => Promise<Reply>

const COUNT = 'eth_getTransactionCount'
const REFUSAL = { code: -32_005, message: 'daily request count exceeded' }

/** Answers like the real node. */
export async function faithful(node: TrueNode, calls: readonly Call[]): Promise<Reply> {
  return answered(await node.ask(calls))
}

/** Asks the node, and changes its answers on their way. */
function changed(change: (answers: Answer[], calls: readonly Call[], amount: number) => Answer[]): Treatment {
  return async (node, calls, amount) => answered(change(await node.ask(calls), calls, amount))
}

export const TREATMENTS: Record<KindOf<'read'> | Exclude<KindOf<'send'>, 'unwanted'>, Treatment> = {
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
    // The node may be gone by then.
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
export function applies(kind: KindOf<'read'>, calls: readonly Call[]): boolean {
  if (kind === 'stale') return tellsTheTime(calls)
  if (kind === 'old-nonce') return calls.some(({ method }) => method === COUNT)
  return kind === 'reversed' ? calls.length > 1 : true
}

function fewer(answer: Answer, nonces: number): Answer {
  const count = Number(quantitySchema.parse(answer.result))
  return { ...answer, result: `0x${Math.max(0, count - nonces).toString(16)}` }
}

/** Encodes the answers of a node. */
function answered(answers: readonly object[]): Reply {
  return { status: 200, body: JSON.stringify(answers.map((answer) => ({ jsonrpc: '2.0', ...answer }))) }
}

function firstHalf(text: string): string {
  return text.slice(0, text.length / 2)
}

/** Length of each spell in requests: a node that rests gets few. */
const LENGTHS: Record<KindOf<'spell'>, number> = { down: 5, trails: 20, 'other-chain': 4, broken: 20 }
const OTHER_CHAIN = '0x1'
const BROKEN = { code: -32_603, message: 'internal error' }

type Spell = Pick<Fault, 'amount'> & { readonly kind: KindOf<'spell'> }

/**
 * Faults of one node for a while.
 * @param next the spell that begins now, mostly none
 * @param onMistake called when the server uses a node that last said it was of another chain
 */
export function createSpells(next: () => Spell | undefined, onMistake: (words: string) => void) {
  let spell: { fault: Spell; left: number } | undefined
  let isForeign = false

  function current() {
    if (spell?.left === 0) spell = undefined
    if (spell === undefined) {
      const fault = next()
      if (fault !== undefined) spell = { fault, left: LENGTHS[fault.kind] }
    }
    if (spell !== undefined) spell.left--
    return spell
  }

  async function ofOtherChain(calls: readonly Call[], hasLeft: boolean): Promise<Reply> {
    if (hasLeft || !asksForChain(calls)) return 'cut'
    isForeign = true
    return answered(calls.map(({ id }) => ({ id, result: OTHER_CHAIN })))
  }

  async function ofBroken(calls: readonly Call[]): Promise<Reply> {
    return answered(calls.map(({ id }) => ({ id, error: BROKEN })))
  }

  return {
    /** Treats a request. Undefined while the node is well. */
    treat(node: TrueNode, calls: readonly Call[], isSend: boolean): Promise<Reply> | undefined {
      if (isForeign && !asksForChain(calls))
        onMistake(`a node of another chain was asked ${calls[0]?.method}`)
      const cast = current()
      if (cast?.fault.kind === 'down') return TREATMENTS.cut(node, calls, 0)
      if (cast?.fault.kind === 'other-chain') {
        return ofOtherChain(calls, cast.left === LENGTHS['other-chain'] - 1)
      }
      if (asksForChain(calls)) isForeign = false
      if (cast?.fault.kind === 'broken') return asksForChain(calls) ? undefined : ofBroken(calls)
      if (cast === undefined || isSend) return undefined
      return TREATMENTS.stale(node, calls, cast.fault.amount)
    },
    end() {
      spell = undefined
    },
  }
}

function asksForChain(calls: readonly Call[]): boolean {
  return calls.every(({ method }) => method === 'eth_chainId')
}
