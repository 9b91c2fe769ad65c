import { useStore } from '../state/context.js'

/** Progress while the server keeps the request open; `since` is in milliseconds. */
export function Publishing({ since }: { since: number }) {
  const seconds = Math.max(0, Math.round((useStore().now.value - since) / 1_000))
  return (
    <div class="box">
      <p role="status">
        Your wallet signs the rulebook, this page seals it, your wallet signs the envelope, and the enclave
        checks it and writes it to the chain. The server answers when all steps are done, usually within
        seconds. Without an answer this page keeps asking for up to half an hour. You can use the rest of the
        page while it runs.
      </p>
      <progress aria-label="Publishing" />
      <p class="muted" aria-hidden="true">
        {seconds} s
      </p>
    </div>
  )
}
