import type { AccountMove, EndedMove } from '../../src/client/index.js'
import { timeOfDay } from './format.js'

/** What a move of a portfolio waits for. @param now in milliseconds */
export function moveWords({ isAccepted, effectiveAt }: AccountMove, now: number): string {
  if (!isAccepted) return 'The new wallet has not accepted it yet.'
  if (effectiveAt === null)
    return 'The new wallet has accepted it. The platform’s owner has not approved it yet.'
  const at = effectiveAt * 1_000
  return at > now
    ? `It is approved, and can be carried out from ${timeOfDay(new Date(at).toISOString(), new Date(now))} on.`
    : 'It is approved, and can be carried out at any moment.'
}

/** How a move ended, after its wallets and before the name of who ended it, if that was another. */
export function endWords({ from, by }: Pick<EndedMove, 'from' | 'by'>): string {
  if (by === null) return 'was carried out'
  return by === from ? 'the lost wallet objected' : 'withdrawn by'
}
