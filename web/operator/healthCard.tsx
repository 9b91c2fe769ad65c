import { Card } from '../parts/card.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useStore } from '../state/context.js'
import { serverWords } from '../words/failures.js'

/** The server's configuration, compared with the page's own settings. */
export function HealthCard() {
  const { settings, health: query } = useStore()
  const { value: health, error } = query
  const [words, tone] = serverWords(health !== null, error)
  return (
    <Card title="Server" aside={<span class={tone === null ? 'tag' : `tag tag-${tone}`}>{words}</span>}>
      <PolledFailure error={error} />
      {health === null ? null : (
        <dl class="facts">
          <dt>Version</dt>
          <dd>{health.version}</dd>
          <dt>Chain</dt>
          <dd>
            {health.chainId}
            {health.chainId === settings.chain.id ? '' : `, but this page is for ${settings.chain.id}`}
          </dd>
          <dt>Escrow</dt>
          <dd>
            {health.contracts.orderEscrow === settings.pins.escrow ? (
              <span class="tag tag-good">the one this page knows</span>
            ) : (
              <span class="tag tag-bad">differs from the one this page knows</span>
            )}
          </dd>
          <dt>Equities</dt>
          <dd>{health.symbols.join(', ')}</dd>
          <dt>Relayer</dt>
          <dd>
            <code>{health.relayer}</code>
          </dd>
          {Object.entries(health.contracts).map(([name, address]) => [
            <dt key={`${name} name`}>{name}</dt>,
            <dd key={name}>
              <code>{address}</code>
            </dd>,
          ])}
        </dl>
      )}
    </Card>
  )
}
