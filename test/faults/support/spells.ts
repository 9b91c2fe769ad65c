import type { FaultQueue } from './faultQueue.js'
import type { Spell } from './kinds.js'
import type { Call, TrueNode } from './node.js'
import type { PlannedFault } from './plan.js'
import { answered, type Reply, TREATMENTS } from './rpcFaults.js'

/** What one node is under for a while. */
export interface Spells {
  /** What becomes of a request; undefined when the node is well. */
  treat(node: TrueNode, calls: readonly Call[], isSend: boolean): Promise<Reply> | undefined
  end(): void
}

/** Requests that each lasts. One that rests is asked seldom. */
const LENGTHS: Record<Spell, number> = { down: 5, trails: 20, 'other-chain': 4, broken: 20 }
const OTHER_CHAIN = '0x1'
const BROKEN = { code: -32_603, message: 'internal error' }

/** @param onMistake told when a node is used that has said that it is of another chain, and nothing else since */
export function createSpells(queue: FaultQueue<Spell>, onMistake: (words: string) => void): Spells {
  let spell: { fault: PlannedFault<Spell>; left: number } | undefined
  let isForeign = false

  function current() {
    if (spell?.left === 0) spell = undefined
    if (spell === undefined) {
      const fault = queue.next()
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
    treat(node, calls, isSend) {
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
