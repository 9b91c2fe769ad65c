import type { Hex } from '../protocol/hex.js'
import { blockTime, firstBlockSince } from './blockTimes.js'
import { interfaces } from './interfaces.js'
import type { Rpc } from './rpc.js'

const { selector } = interfaces.corporateActions.getFunction('enact') ?? { selector: '' }
/** The struct has seven fields, a word each. */
const ACTION_DIGITS = 7 * 64

/** Calldata that enacts the action of an `ActionProposed`, whose data begins with the action. */
export function enactmentCall(proposed: Hex): Hex {
  return `0x${selector.slice(2)}${proposed.slice(2, 2 + ACTION_DIGITS)}`
}

/** Whether calldata is that of {@link enactmentCall}. */
export function isEnactment(data: Hex): boolean {
  return data.startsWith(selector)
}

/** Topic of `ActionProposed`. */
export const ACTION_PROPOSED = interfaces.corporateActions.getEvent('ActionProposed')?.topicHash ?? ''
/** The broker announces 90 days ahead, and an enactment follows its proposal as soon as it is due. */
const LOOK_BACK_SECONDS = 100 * 86_400

/** The block from which on proposals may still wait. @param deployedAt Unix seconds: there is none from before */
export function firstBlockOfProposals(
  rpc: Pick<Rpc, 'send'>,
  deployedAt: number,
  head: { readonly number: number; readonly timestamp: number },
): Promise<number> {
  const since = Math.max(deployedAt, head.timestamp - LOOK_BACK_SECONDS)
  return firstBlockSince((block) => blockTime(rpc, block), since, head.number)
}
