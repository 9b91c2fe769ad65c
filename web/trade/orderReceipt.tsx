import type { Hex } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { saveFile } from '../state/browser.js'
import { useAccount } from '../state/context.js'
import type { Words } from '../words/contractWords.js'
import { PageError } from '../words/failures.js'

class NoReceiptError extends PageError {
  override readonly name = 'NoReceiptError'
  override readonly words: Words = [
    'This browser has no receipt of the order',
    'Save it in the browser that placed the order, or give the auditor a statement.',
  ]
}

/** Saves the receipt of an order, once a key that opens it is in use. */
export function OrderReceipt({ orderId }: { readonly orderId: Hex }) {
  const { key, receipts } = useAccount()
  const { busy, error, run } = useAction()
  if (key.value === null) return null
  const save = () =>
    run(async () => {
      const receipt = await receipts.of(orderId)
      if (receipt === null) throw new NoReceiptError()
      saveFile(`receipt-${orderId.slice(2, 10)}.json`, JSON.stringify(receipt, null, 2))
    })
  return (
    <>
      <p class="muted">
        A receipt shows this one order to an auditor: what was ordered, when, and whether it was settled. It
        shows no shares, price or balance, and it is not encrypted.
      </p>
      <button type="button" class="quiet" disabled={busy} onClick={save}>
        Save a receipt
      </button>
      <FailureBox error={error} />
    </>
  )
}
