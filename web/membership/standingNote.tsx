import { useCallback } from 'preact/hooks'
import type { Ask } from '../chain/remembered.js'
import type { Standing } from '../chain/standing.js'
import { usePolled } from '../hooks/usePolled.js'

const LOOK_MS = 10_000

interface StandingNoteProps {
  /** Null for a wallet in no institution, and for an admin, who writes the rulebook. */
  readonly readStanding: Ask<Standing | null> | null
}

const NOBODY = async () => null

/** Before an order is tried: that the rulebook in force was published before the wallet became a member. */
export function StandingNote({ readStanding }: StandingNoteProps) {
  const ask = useCallback(
    (signal: AbortSignal, tell: (value: Standing | null) => void) => (readStanding ?? NOBODY)(signal, tell),
    [readStanding],
  )
  const { value } = usePolled<Standing | null>(ask, LOOK_MS)
  if (value === 'outsider') {
    return (
      <p class="box box-bad" role="status" data-test="not-covered">
        <strong>This wallet is not covered by the rulebook in force.</strong> That one was published before
        this wallet was invited, and a rulebook names its members. The enclave refuses each order of a wallet
        that it does not name, and sends the money back. Ask your admin to publish the next one.
      </p>
    )
  }
  if (value === 'invited') {
    return (
      <p class="box" role="status" data-test="not-covered">
        <strong>This wallet may not be covered by the rulebook in force.</strong> That one was published
        before this wallet joined. Only its admin knows whether it names this wallet already. If it does not,
        the enclave refuses each order and sends the money back.
      </p>
    )
  }
  return null
}
