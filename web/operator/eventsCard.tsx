import type { Provider } from 'ethers'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/polledFailure.js'
import type { Settings } from '../settings.js'
import { eventWords } from '../words/events.js'
import { useEvents } from './useEvents.js'

/** What the contracts say, read from the chain by the page. */
export function EventsCard({ provider, settings }: { provider: Provider; settings: Settings }) {
  const { value, error } = useEvents(provider, settings)
  const events = (value?.logs ?? []).toReversed().flatMap((log) => {
    const words = eventWords(log)
    return words === null ? [] : [{ ...words, block: log.blockNumber, key: `${log.blockHash}-${log.index}` }]
  })
  return (
    <Card title="Events" aside={value === null ? null : <span class="muted">up to block {value.head}</span>}>
      <PolledFailure error={error} />
      {events.length === 0 ? <p class="muted">None in the last blocks.</p> : null}
      <ol class="events" data-test="events">
        {events.map((event) => (
          <li key={event.key}>
            <span class="muted">block {event.block}</span>
            <span>
              <span class="tag">{event.tag}</span>
            </span>
            <span>{event.says}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
