import { hexOf } from '../../protocol/hex.js'
import type { ListedAt } from '../listing.js'

/**
 * A wallet's standing in its institution when the rulebook in force was published. The list of wallets in the rulebook
 * is sealed; its admin can only have listed wallets known then. `outsider`: invited later.
 */
export type Standing = 'member' | 'invited' | 'outsider'

const flagSchema = hexOf(32)

/** @param changes the wallet's membership changes in the institution, oldest first */
export function standingAt(
  rulebook: ListedAt,
  changes: readonly (ListedAt & { readonly data: string })[],
): Standing {
  const before = changes.filter(
    ({ blockNumber, logIndex }) =>
      blockNumber < rulebook.blockNumber ||
      (blockNumber === rulebook.blockNumber && logIndex < rulebook.logIndex),
  )
  const last = before.at(-1)
  if (last === undefined) return 'outsider'
  return BigInt(flagSchema.parse(last.data)) === 1n ? 'member' : 'invited'
}
