import { useCallback } from 'preact/hooks'
import type { Client, FollowOptions, Hex } from '../../src/client/index.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { isUnknownOrder } from '../words/failures.js'
import { timeOfDay } from '../words/format.js'
import { entryWords } from '../words/timeline.js'
import { useFollowed } from './useFollowed.js'

interface TimelineProps {
  readonly client: Client
  readonly orderId: Hex
  readonly pollMs: number
}

/** What happens to an order, as it happens. */
export function Timeline({ client, orderId, pollMs }: TimelineProps) {
  const follow = useCallback(
    (options: FollowOptions) => client.followTimeline(orderId, options),
    [client, orderId],
  )
  const { value, error } = useFollowed(follow, pollMs)
  if (value === null && error !== null && !isUnknownOrder(error)) return <PolledFailure error={error} />
  if (value === null) return <p class="muted">Nothing is known of it yet.</p>
  return (
    <ol class="timeline">
      {value.entries.map((entry, index) => (
        <li key={`${index}-${entry.kind}`}>
          {entryWords(entry)} <time dateTime={entry.at}>{timeOfDay(entry.at, new Date())}</time>
        </li>
      ))}
    </ol>
  )
}
