import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Client, FollowOptions, Notice, OrderStatus } from '../../src/client/index.js'
import { formatDecimal } from '../../src/client/index.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { money, shortHex } from '../words/format.js'
import { orderWords } from '../words/timeline.js'
import { isEnvelopeMissing } from './envelopeMissing.js'
import { hasEnded } from './hasEnded.js'
import { forgetOrder, keptOrder } from './keptOrders.js'
import type { Ordered } from './orderMemory.js'
import { OrderNotice } from './orderNotice.js'
import { decimalsOf } from './ticketOrder.js'
import { Timeline } from './timeline.js'
import { useFollowed } from './useFollowed.js'
import { useNotice } from './useNotice.js'
import type { DeskOrder } from './useOrders.js'

interface OrderCardProps {
  readonly client: Client
  readonly order: DeskOrder
  readonly unlocked: boolean
  readonly startsOpen: boolean
  readonly pollMs: number
  /** The order was open here, and has ended. */
  readonly onEnd: () => void
}

export function OrderCard({ client, order, unlocked, startsOpen, pollMs, onEnd }: OrderCardProps) {
  const { orderId, request } = order
  const [isOpen, setOpen] = useState(startsOpen)
  const follow = useCallback(
    (options: FollowOptions) => client.followOrder(orderId, options),
    [client, orderId],
  )
  const { value: status, error } = useFollowed(follow, pollMs)
  useEnd(status, onEnd)
  useForgetting(orderId, status)
  const opened = useNotice(client, status, unlocked)
  const state = orderWords(status, error, opened.notice)
  return (
    <li class="order" data-state={status?.state}>
      <div class="order-head">
        <h3>{request === null ? `Sealed order ${shortHex(orderId)}` : requestWords(request)}</h3>
        {request === null && status?.amount ? (
          <span class="muted">escrow of {money(status.amount)} USDC</span>
        ) : null}
        <span class={`tag ${tagOf(status, opened.notice)}`} role="status">
          {state}
        </span>
      </div>
      {request === null && status !== null ? <p class="muted">{unknownWords(status, unlocked)}</p> : null}
      {status !== null && hasEnded(status) ? <OrderNotice status={status} opened={opened} /> : null}
      {isEnvelopeMissing(status, error) ? <Resubmit client={client} order={order} /> : null}
      {status === null ? null : <Reclaim client={client} status={status} />}
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>What happened</summary>
        {isOpen ? <Timeline client={client} orderId={orderId} pollMs={pollMs} /> : null}
      </details>
    </li>
  )
}

/** Why it is not said what was ordered, and where to see it. */
function unknownWords(status: OrderStatus, unlocked: boolean): string {
  if (hasEnded(status)) {
    return 'What was ordered is known no more: only the page that sealed it knew, and it was closed.'
  }
  return unlocked
    ? 'What was ordered shows once the enclave has noted it in your portfolio.'
    : 'Open your portfolio to see what was ordered.'
}

function requestWords(request: Ordered): string {
  const { side, symbol, maxSpend } = request
  const verb = { BUY: 'Buy', SELL: 'Sell', WITHDRAW: 'Withdraw' }[side]
  if (side !== 'WITHDRAW') return `${verb} ${symbol} for ${money(maxSpend)} USDC`
  return `${verb} ${formatDecimal(maxSpend, decimalsOf(request))} ${symbol}`
}

function tagOf(status: OrderStatus | null, notice: Notice | null): string {
  if (status?.state === 'SETTLED') return 'tag-good'
  return status?.state === 'REFUNDED' && notice !== null ? 'tag-bad' : ''
}

/** Calls back when an order that was seen open has ended. */
function useEnd(status: OrderStatus | null, onEnd: () => void): void {
  const wasOpen = useRef(false)
  useEffect(() => {
    if (status === null) return
    if (!hasEnded(status)) wasOpen.current = true
    else if (wasOpen.current) {
      wasOpen.current = false
      onEnd()
    }
  }, [status, onEnd])
}

/**
 * Drops the kept envelope once the order has ended. Neither that the server has it nor that the enclave has begun is
 * reason enough: the server may lose what it has, and then only this browser can give it again.
 */
function useForgetting(orderId: DeskOrder['orderId'], status: OrderStatus | null): void {
  const isOver = status !== null && hasEnded(status)
  useEffect(() => {
    if (isOver) forgetOrder(orderId)
  }, [isOver, orderId])
}

/** For an order of which the server has no envelope, but this browser may have. */
function Resubmit({ client, order }: Pick<OrderCardProps, 'client' | 'order'>) {
  const { busy, error, run } = useAction()
  const kept = keptOrder(order.orderId)
  if (kept === null) return null
  const submit = () =>
    run(async () => {
      await client.submitOrder(kept)
    })
  return (
    <div class="box">
      <p>The server does not have the sealed envelope of this order. It is kept in this browser.</p>
      <button type="button" disabled={busy} onClick={submit}>
        {busy ? 'Submitting…' : 'Submit it again'}
      </button>
      <FailureBox error={error} />
    </div>
  )
}

/** For an order that nobody answered, long after its deadline. */
function Reclaim({ client, status }: { client: Client; status: OrderStatus }) {
  const { busy, error, run } = useAction()
  const { state, deadline, orderId } = status
  if (state !== 'OPEN' || deadline === null || Date.parse(deadline) + RECLAIM_DELAY * 1_000 > Date.now())
    return null
  const reclaim = () =>
    run(async () => {
      await client.reclaim(orderId)
    })
  return (
    <div class="box">
      <p>Nobody has answered this order for a week. You can take it back from the contract yourself.</p>
      <button type="button" disabled={busy} onClick={reclaim}>
        Take it back
      </button>
      <FailureBox error={error} />
    </div>
  )
}
