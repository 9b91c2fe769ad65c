import { useLayoutEffect, useState } from 'preact/hooks'
import { type RulebookChange, rulebookChanges } from '../../src/client/admin.js'
import type { Policy } from '../../src/client/index.js'
import { fitsEnvelope } from '../../src/protocol/policyIntent.js'

/** What a rulebook changes, and whether it can be sealed. */
interface Review {
  readonly changes: readonly RulebookChange[]
  readonly fits: boolean
  /** Whether it is of these very rulebooks: a long one takes longer than a frame, and the last review stands meanwhile. */
  readonly isCurrent: boolean
}

/** Null until the first review, and without a rulebook. The page stays usable while it compares: the slices are the client's. */
export function useChanges(before: Policy | null, after: Policy | null): Review | null {
  const [found, setFound] = useState<(Omit<Review, 'isCurrent'> & { of: readonly unknown[] }) | null>(null)
  useLayoutEffect(() => {
    if (after === null) return undefined
    const over = new AbortController()
    rulebookChanges(before, after, { signal: over.signal }).then(
      (changes) => setFound({ changes, fits: fitsEnvelope(after), of: [before, after] }),
      // Another rulebook is compared by now.
      () => undefined,
    )
    return () => over.abort()
  }, [before, after])
  if (found === null || after === null) return null
  return { ...found, isCurrent: found.of[0] === before && found.of[1] === after }
}
