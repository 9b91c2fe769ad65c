import { useNow } from '../hooks/useNow.js'

const TICK_MS = 1_000

/** What goes on while the server keeps the request open, since a time in milliseconds. */
export function Publishing({ since }: { since: number }) {
  const seconds = Math.max(0, Math.round((useNow(TICK_MS) - since) / 1_000))
  return (
    <div class="box">
      <p role="status">
        Your wallet signs it, this page seals it, your wallet signs the envelope, and the enclave checks it
        and writes it to the chain. The server answers when all of that is done, mostly within some seconds.
        Without an answer this page asks again by itself, for half an hour at most. You can use the rest of
        the page while it runs.
      </p>
      <progress aria-label="Publishing" />
      <p class="muted" aria-hidden="true">
        {seconds} s
      </p>
    </div>
  )
}
