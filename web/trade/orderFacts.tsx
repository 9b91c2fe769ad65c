import { explorerLink, type OrderSummary } from '../../src/client/history.js'
import type { Hex } from '../../src/client/index.js'
import { useStore } from '../state/context.js'
import { shortHex, timeOfDay } from '../words/format.js'

interface OrderFactsProps {
  readonly orderId: Hex
  readonly summary: OrderSummary | null
}

/** An order's full id, and the times and transactions at which it was opened and ended. */
export function OrderFacts({ orderId, summary }: OrderFactsProps) {
  const { openedAt = null, openedIn = null, endedAt = null, endedIn = null } = summary ?? {}
  return (
    <dl class="facts">
      <dt>Order</dt>
      <dd>
        <code>{orderId}</code>
      </dd>
      <Step name="Opened" at={openedAt} txHash={openedIn} />
      <Step name="Ended" at={endedAt} txHash={endedIn} />
    </dl>
  )
}

interface StepProps {
  readonly name: string
  /** Unix seconds. */
  readonly at: number | null
  readonly txHash: Hex | null
}

function Step({ name, at, txHash }: StepProps) {
  const { explorerUrl } = useStore().settings.chain
  if (at === null || txHash === null) return null
  const iso = new Date(at * 1_000).toISOString()
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <time dateTime={iso}>{timeOfDay(iso, new Date())}</time>
        {', transaction '}
        {explorerUrl === undefined ? (
          <code>{txHash}</code>
        ) : (
          <a href={explorerLink(explorerUrl, txHash)} target="_blank" rel="noreferrer" title={txHash}>
            {shortHex(txHash)}
          </a>
        )}
      </dd>
    </>
  )
}
