import type { ReadList } from '../../src/client/index.js'
import { formatGrouped } from '../../src/protocol/units.js'

const lengthOf = ({ from, to }: ReadList['span']) => to - from + 1

/** How far a list has been read. @param what in the plural, such as `members` */
export function readingWords(
  what: string,
  count: number,
  listing: Pick<ReadList, 'read' | 'span'> | null,
): string {
  if (listing?.read == null) return `Reading the ${what}…`
  const percent = Math.floor((100 * lengthOf(listing.read)) / lengthOf(listing.span))
  // Everything was read on an earlier look; the newest blocks are read again.
  if (percent >= 100) return `Looking for new ${what}…`
  return `Reading the ${what}: ${formatGrouped(BigInt(count), 0)} so far, ${percent} % of the chain’s blocks…`
}
