import { useState } from 'preact/hooks'
import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { useStore } from '../state/context.js'
import { eventWords } from '../words/events.js'

/** The contracts' events, which the page reads from the chain. */
export function EventsCard() {
  const { value, error } = useStore().events
  const [shown, setShown] = useState('')
  const events = (value?.logs ?? []).toReversed().flatMap((log) => {
    const words = eventWords(log)
    return words === null ? [] : [{ ...words, block: log.blockNumber, key: `${log.blockHash}-${log.index}` }]
  })
  const tags = [...new Set(events.map(({ tag }) => tag))].sort()
  return (
    <Card title="Events" aside={value === null ? null : <span class="muted">up to block {value.head}</span>}>
      <PolledFailure error={error} />
      {value?.complete || error !== null ? null : <p class="muted">Reading the events…</p>}
      {value?.complete && events.length === 0 ? <p class="muted">None in the last blocks.</p> : null}
      <label class="filter">
        Show{' '}
        <select value={shown} onChange={(event) => setShown(event.currentTarget.value)}>
          <option value="">all events</option>
          {tags.map((tag) => (
            <option key={tag} value={tag}>
              {tag}
            </option>
          ))}
        </select>
      </label>
      <ol class="events" data-test="events">
        {events
          .filter(({ tag }) => shown === '' || tag === shown)
          .map((event) => (
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
