import { useState } from 'preact/hooks'
import { useNow } from '../hooks/useNow.js'

const TICK_MS = 1_000

/** What goes on while the server keeps the request open. */
export function Publishing() {
  const [startedAt] = useState(Date.now)
  const seconds = Math.max(0, Math.round((useNow(TICK_MS) - startedAt) / 1_000))
  return (
    <div class="box">
      <p role="status">
        Your wallet signs it, this page seals it, and the enclave checks it and writes it to the chain. The
        server answers when all of that is done: mostly within some seconds, at the latest in a minute or two.
      </p>
      <progress aria-label="Publishing" />
      <p class="muted" aria-hidden="true">
        {seconds} s
      </p>
    </div>
  )
}
