import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, askLagging, type Call, type TrueNode, tellsTheTime } from './node.js'
import type { Fault, KindOf } from './plan.js'

/** The end of a request: an answer, a cut connection, or silence. */
export type Reply = { status: number; body: string } | 'cut' | 'silence'

type Treatment = (node: TrueNode, calls: readonly Call[], amount: number) => Promise<Reply>

const REFUSAL = { code: -32_005, message: 'daily request count exceeded' }

/** Answers like the real node. */
export async function faithful(node: TrueNode, calls: readonly Call[]): Promise<Reply> {
  return answered(await node.ask(calls))
}

/** Asks the node, and changes its answers on their way. */
function changed(change: (answers: Answer[], calls: readonly Call[], amount: number) => Answer[]): Treatment {
  return async (node, calls, amount) => answered(change(await node.ask(calls), calls, amount))
}

export const TREATMENTS: Record<KindOf<'read' | 'send'>, Treatment> = {
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
  garbage: async () => ({ status: 200, body: '<html>bad gateway</html>' }),
  refused: async (_node, calls) => answered(calls.map(({ id }) => ({ id, error: REFUSAL }))),
  limited: async () => ({ status: 429, body: 'too many requests' }),
  repeated: changed((answers) => [...answers, ...answers]),
  missing: changed((answers) => answers.slice(1)),
  reversed: changed((answers) => answers.toReversed()),
  empty: changed(() => []),
  'wrong-type': changed((answers) => answers.map(({ id }) => ({ id, result: { is: 'not a quantity' } }))),
  stale: async (node, calls, blocks) => answered(await askLagging(node, calls, blocks)),
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
  return kind === 'reversed' ? calls.length > 1 : true
}

/** Encodes the answers of a node. */
function answered(answers: readonly object[]): Reply {
  return { status: 200, body: JSON.stringify(answers.map((answer) => ({ jsonrpc: '2.0', ...answer }))) }
}

/** Length of each spell in requests: a node that rests gets few. */
const LENGTHS: Record<KindOf<'spell'>, number> = { down: 5, trails: 20, broken: 20 }
const BROKEN = { code: -32_603, message: 'internal error' }

type Spell = Pick<Fault, 'amount'> & { readonly kind: KindOf<'spell'> }

/**
 * Faults of one node for a while.
 * @param next the spell that begins now, mostly none
 */
export function createSpells(next: () => Spell | undefined) {
  let spell: Spell | undefined
  let left = 0

  return {
    /** Treats a request. Undefined while the node is well. */
    treat(node: TrueNode, calls: readonly Call[], isSend: boolean): Promise<Reply> | undefined {
      if (left === 0) {
        spell = next()
        left = spell === undefined ? 0 : LENGTHS[spell.kind]
      }
      if (spell === undefined) return undefined
      left--
      if (spell.kind === 'down') return TREATMENTS.cut(node, calls, 0)
      if (spell.kind === 'trails') return isSend ? undefined : TREATMENTS.stale(node, calls, spell.amount)
      // It knows its chain.
      if (calls.every(({ method }) => method === 'eth_chainId')) return undefined
      return Promise.resolve(answered(calls.map(({ id }) => ({ id, error: BROKEN }))))
    },
    end() {
      spell = undefined
      left = 0
    },
  }
}
