import type { Timeline as Entries } from '../../src/client/index.js'
import { PolledFailure } from '../parts/polledFailure.js'
import type { Query } from '../query.js'
import { isUnknownOrder } from '../words/failures.js'
import { timeOfDay } from '../words/format.js'
import { entryWords } from '../words/timeline.js'

/** An order's events, live. */
export function Timeline({ timeline }: { timeline: Query<Entries> }) {
  const { value, error } = timeline
  if (value === null && error !== null && !isUnknownOrder(error)) return <PolledFailure error={error} />
  if (value === null) return <p class="muted">No events yet.</p>
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
