import type { ReadList } from '../../src/client/index.js'
import { formatGrouped } from '../../src/protocol/units.js'
import type { Answer } from '../query.js'
import { PolledFailure } from './failureBox.js'

interface ListStateProps {
  /** In the plural, such as `members`. */
  readonly what: string
  readonly query: Answer<Pick<ReadList, 'isComplete' | 'read' | 'span'>>
  /** How many have been found. */
  readonly count: number
  /** What to say of an empty list; nothing by default. */
  readonly none?: string | undefined
}

/** Says what of a list is still being read, or why that has stopped. */
export function ListState({ what, query: { value, error }, count, none }: ListStateProps) {
  const isWhole = value?.isComplete ?? false
  if (error !== null) {
    return (
      <>
        <PolledFailure error={error} />
        {isWhole ? null : (
          <p class="muted">
            {count === 0
              ? `The ${what} have not been read.`
              : `Not all ${what} have been read: ${count} so far.`}
          </p>
        )}
      </>
    )
  }
  if (!isWhole) return <p class="muted">{readingWords(what, count, value)}</p>
  return count > 0 || none === undefined ? null : <p class="muted">{none}</p>
}

const lengthOf = ({ from, to }: ReadList['span']) => to - from + 1

/** How far a list has been read. @param what in the plural, such as `members` */
function readingWords(what: string, count: number, listing: Pick<ReadList, 'read' | 'span'> | null): string {
  if (listing?.read == null) return `Reading the ${what}…`
  const percent = Math.floor((100 * lengthOf(listing.read)) / lengthOf(listing.span))
  // Everything was read on an earlier look; the newest blocks are read again.
  if (percent >= 100) return `Looking for new ${what}…`
  return `Reading the ${what}: ${formatGrouped(BigInt(count), 0)} so far, ${percent} % of the chain’s blocks…`
}
