import { useEffect, useState } from 'preact/hooks'
import type { LogList } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import { useStore } from '../state/context.js'
import { type EventWords, eventWords } from '../words/events.js'
import { timeOfDay } from '../words/format.js'
import './eventsCard.css'

type Log = LogList['logs'][number]

interface ShownEvent extends EventWords {
  readonly log: Log
}

/** The contracts' events, which the page reads from the chain. */
export function EventsCard() {
  const query = useStore().events
  const { value } = query
  const [shown, setShown] = useState('')
  const events = (value?.logs ?? []).toReversed().flatMap((log): ShownEvent[] => {
    const words = eventWords(log)
    return words === null ? [] : [{ ...words, log }]
  })
  const tags = [...new Set(events.map(({ tag }) => tag))].sort()
  return (
    <Card
      title="Events"
      aside={value === null ? null : <span class="muted">up to block {value.read?.to ?? '…'}</span>}
    >
      <ListState what="events" query={query} count={events.length} none="None in the last blocks." />
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
      <Paged
        id="events"
        what="events"
        items={events.filter(({ tag }) => shown === '' || tag === shown)}
        textOf={searchText}
      >
        {(page) => (
          <ol class="events" data-test="events">
            {page.map(({ log, tag, says }) => (
              <li key={`${log.blockHash}-${log.logIndex}`}>
                <span class="muted">
                  <EventTime log={log} />
                  block {log.blockNumber}
                </span>
                <span>
                  <span class="tag">{tag}</span>
                </span>
                <span>{says}</span>
              </li>
            ))}
          </ol>
        )}
      </Paged>
    </Card>
  )
}

const ADDRESS_DIGITS = 40

/** A whole address or id is found too, although only its ends are shown. */
function searchText({ tag, says, log }: ShownEvent): string {
  const indexed = log.topics.slice(1).flatMap((topic) => [topic, `0x${topic.slice(-ADDRESS_DIGITS)}`])
  return [tag, says, `block ${log.blockNumber}`, ...indexed].join(' ')
}

/** The time of the event's block, once it was read. Only events on the screen are asked about. */
function EventTime({ log }: { log: Log }) {
  const timeOf = useStore().blockTime.value
  const [at, setAt] = useState<string | null>(null)
  useEffect(() => {
    let isShown = true
    timeOf?.(log).then(
      (seconds) => isShown && setAt(new Date(seconds * 1_000).toISOString()),
      // The number of the block stands there; the next look shows the time.
      () => undefined,
    )
    return () => {
      isShown = false
    }
  }, [timeOf, log.blockHash])
  return at === null ? null : <time dateTime={at}>{timeOfDay(at, new Date())}</time>
}
