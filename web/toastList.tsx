import { useStore } from './state/context.js'

/** How many of the orders that were placed here are followed on every screen. */
const FOLLOWED = 5

/** Reports each order sent and ended, on every screen. */
export function ToastList() {
  const { toasts, account } = useStore()
  const orders = account.value?.orders
  // Reading follows the orders, also where no card shows them.
  void account.value?.progress.value
  for (const orderId of orders?.memory.value.placed.slice(0, FOLLOWED) ?? []) {
    void orders?.of(orderId).status.value
  }
  return (
    <div class="toasts" role="status" data-test="toasts">
      {toasts.shown.value.map(({ id, tone, says }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <span>{says}</span>
          <button type="button" class="quiet" onClick={() => toasts.dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}
