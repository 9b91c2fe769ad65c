import { useLayoutEffect, useState } from 'preact/hooks'
import { type RulebookChange, rulebookChanges } from '../../src/client/admin.js'
import type { Policy } from '../../src/client/index.js'
import { fitsEnvelope } from '../../src/protocol/policyIntent.js'

/** A rulebook, what it changes, and whether it can be sealed. */
interface Review {
  readonly policy: Policy
  readonly changes: readonly RulebookChange[]
  readonly fits: boolean
  /** Whether it is of these very rulebooks: a long one takes longer than a frame, and the last review stands meanwhile. */
  readonly isCurrent: boolean
}

/**
 * Null until the first review, and without a rulebook. The page stays usable while it compares: the slices are the client's.
 * @param build makes the rulebook, in a task of its own: a long one takes as long as a form to draw. Another function is another rulebook.
 */
export function useChanges(before: Policy | null, build: (() => Policy) | null): Review | null {
  const [found, setFound] = useState<(Omit<Review, 'isCurrent'> & { of: readonly unknown[] }) | null>(null)
  useLayoutEffect(() => {
    if (build === null) return undefined
    const over = new AbortController()
    const timer = setTimeout(() => {
      const policy = build()
      rulebookChanges(before, policy, { signal: over.signal }).then(
        (changes) => setFound({ policy, changes, fits: fitsEnvelope(policy), of: [before, build] }),
        // Another rulebook is compared by now.
        () => undefined,
      )
    })
    return () => {
      clearTimeout(timer)
      over.abort()
    }
  }, [before, build])
  if (found === null || build === null) return null
  return { ...found, isCurrent: found.of[0] === before && found.of[1] === build }
}
