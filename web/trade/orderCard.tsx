import { useEffect, useState } from 'preact/hooks'
import type { OrderSummary } from '../../src/client/history.js'
import type { Timeline as Entries, OrderStatus } from '../../src/client/index.js'
import { hasEnded } from '../../src/protocol/api.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { useAction } from '../hooks/useAction.js'
import { requestWords } from '../orders/orderMemory.js'
import { FailureBox, PolledFailure } from '../parts/failureBox.js'
import type { Query } from '../query.js'
import { useAccount } from '../state/context.js'
import type { DeskOrder } from '../state/orders.js'
import { isUnknownOrder } from '../words/failures.js'
import { money, shares, shortHex, timeOfDay } from '../words/format.js'
import { entryWords, fillWords, orderTone, orderWords, turnWords, waitingWords } from '../words/timeline.js'
import { OrderCancel } from './orderCancel.js'
import { OrderFacts } from './orderFacts.js'
import { OrderNotice } from './orderNotice.js'
import { OrderReceipt } from './orderReceipt.js'
import { Unopened } from './unopened.js'
import './orderCard.css'

interface OrderCardProps {
  readonly order: DeskOrder
  readonly startsOpen: boolean
}

export function OrderCard({ order, startsOpen }: OrderCardProps) {
  const { orderId, request, summary } = order
  const { orders, key, trades } = useAccount()
  // Null until its owner has opened or closed the details: until then they are open while the order is the newest.
  const [chosen, setChosen] = useState<boolean | null>(null)
  const isOpen = chosen ?? startsOpen
  const queries = orders.of(orderId)
  const { value: status, error } = queries.status
  const { value: notice } = queries.notice
  const state = orderWords(status, error, notice)
  const name = request === null ? `Sealed order ${shortHex(orderId)}` : requestWords(request)
  const turn = status && turnWords(status, notice)
  const waiting = status && waitingWords(status, new Date())
  // One sentence about the closed portfolio is enough.
  const isLocked = request === null && key.value === null
  const fill = summary === null ? null : fillWords(summary)
  const at = timeOf(summary, status)
  return (
    <li class="order" data-state={status?.state}>
      <div class="order-head">
        <h3>{name}</h3>
        {request === null && status?.amount ? (
          <span class="muted">escrow of {money(status.amount)} USDC</span>
        ) : null}
        {request === null && status?.deposit ? (
          <span class="muted">
            escrow of {shares(status.deposit.shares)} {status.deposit.symbol}
          </span>
        ) : null}
        {at === null ? null : (
          <time class="muted" dateTime={at}>
            {timeOfDay(at, new Date())}
          </time>
        )}
        <span class={`tag tag-${orderTone(status, error, notice)}`} role="status">
          {state}
        </span>
      </div>
      {request === null && status !== null ? (
        <p class="muted">{unknownWords(status, key.value !== null, trades.answered)}</p>
      ) : null}
      {fill === null ? null : <p data-test="fill">{fill}</p>}
      {status !== null && hasEnded(status) && fill === null && !isLocked ? (
        <OrderNotice status={status} opened={queries.notice} />
      ) : null}
      {turn === null ? null : (
        <p class="muted" data-notice={notice?.code}>
          {turn}
        </p>
      )}
      {waiting === null ? null : <p class="muted">{waiting}</p>}
      <Unopened order={order} status={status} error={error} opening={queries.opening.value} />
      {isEnvelopeMissing(status, error) &&
      queries.opening.value === null &&
      status?.cancelReceivedAt === undefined ? (
        <Resubmit order={order} isOpen={status?.state === 'OPEN'} />
      ) : null}
      {status === null ? null : <OrderCancel status={status} name={name} />}
      {status === null ? null : <Reclaim status={status} />}
      <details open={isOpen} onToggle={({ currentTarget: { open } }) => open !== isOpen && setChosen(open)}>
        <summary>Details</summary>
        {isOpen ? (
          <>
            {status !== null && fill !== null ? (
              <OrderNotice status={status} opened={queries.notice} />
            ) : null}
            <OrderFacts orderId={orderId} summary={summary} />
            <Timeline timeline={queries.timeline} />
            <OrderReceipt orderId={orderId} />
          </>
        ) : null}
      </details>
    </li>
  )
}

/**
 * Whether the server has reported that it lacks the envelope of an open order. Without an answer it may well have it.
 * `error` is the reason of a missing answer, and counts while `status` is null.
 */
function isEnvelopeMissing(status: OrderStatus | null, error: unknown): boolean {
  if (status === null) return isUnknownOrder(error)
  return status.receivedAt === null && !hasEnded(status)
}

/** When the order ended, or else when it was opened or received. */
function timeOf(summary: OrderSummary | null, status: OrderStatus | null): string | null {
  const seconds = summary?.endedAt ?? summary?.openedAt ?? null
  return seconds === null ? (status?.receivedAt ?? null) : new Date(seconds * 1_000).toISOString()
}

/** Explains why the order's content is not shown, and where to see it. */
function unknownWords(status: OrderStatus, isUnlocked: boolean, isRead: boolean): string {
  if (!isUnlocked) return 'Open your portfolio to see the order’s content.'
  if (!hasEnded(status))
    return 'The order’s content appears once the enclave has written it to your portfolio.'
  if (!isRead) return 'Reading your history from the chain…'
  return 'Only the device that placed this order knows its content: it never entered your portfolio.'
}

/**
 * For an order whose envelope the server lacks, but this browser may have. It goes there by itself once the escrow is open; otherwise the
 * person decides.
 */
function Resubmit({ order, isOpen }: Pick<OrderCardProps, 'order'> & { readonly isOpen: boolean }) {
  const { orders, session } = useAccount()
  const { busy, error, run } = useAction()
  const kept = orders.keptOf(order.orderId)
  const submit = () =>
    run(async () => {
      if (kept !== undefined) await session.client.submitOrder({ ...kept, opening: undefined })
    })
  const isHere = isOpen && kept !== undefined
  useEffect(() => {
    if (isHere) submit()
  }, [isHere])
  // An order that is signed and not open has its own choices.
  const isSigned = kept?.opening !== undefined && !isOpen
  if (kept === undefined || isSigned || (isOpen && error === null)) return null
  return (
    <div class="box box-warn">
      <p>The server does not have this order’s sealed envelope. This browser still has it.</p>
      <button type="button" disabled={busy} onClick={submit}>
        {busy ? 'Submitting…' : 'Submit it again'}
      </button>
      <FailureBox error={error} />
    </div>
  )
}

/** For an unanswered order, long after its deadline. */
function Reclaim({ status }: { status: OrderStatus }) {
  const { client } = useAccount().session
  const { busy, error, run } = useAction()
  const { state, deadline, orderId } = status
  if (state !== 'OPEN' || deadline === null || Date.parse(deadline) + RECLAIM_DELAY * 1_000 > Date.now())
    return null
  const reclaim = () =>
    run(async () => {
      await client.reclaimOrder(orderId)
    })
  return (
    <div class="box">
      <p>
        This order got no answer within a week of its deadline. You can reclaim its escrow from the contract.
      </p>
      <button type="button" disabled={busy} onClick={reclaim}>
        Reclaim the escrow
      </button>
      <FailureBox error={error} />
    </div>
  )
}

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
