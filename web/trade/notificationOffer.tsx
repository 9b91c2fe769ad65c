import { useAccount, useStore } from '../state/context.js'

/** Offers notifications once, after the first order of a visit; any answer is remembered. */
export function NotificationOffer() {
  const { isUndecided, allow, refuse } = useStore().notifications
  const { placed } = useAccount().orders.memory.value
  if (!isUndecided.value || placed.length === 0) return null
  return (
    <div class="box" data-test="notification-offer">
      <p>Shall your browser tell you when an order ends while this tab is in the background?</p>
      <p class="row">
        <button type="button" class="quiet" onClick={allow}>
          Tell me
        </button>
        <button type="button" class="quiet" onClick={refuse}>
          No
        </button>
      </p>
    </div>
  )
}
