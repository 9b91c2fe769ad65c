import type { Hex } from '../protocol/hex.js'
import { interfaces } from './interfaces.js'

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
