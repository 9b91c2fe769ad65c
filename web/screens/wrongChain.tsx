import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import type { Settings } from '../settings.js'
import { switchChain } from '../wallet/chain.js'
import type { Session } from '../wallet/session.js'

/** The wallet is on a chain where this platform is not. */
export function WrongChain({ session, settings }: { session: Session; settings: Settings }) {
  const { busy, error, run } = useAction()
  const { name, id } = settings.chain
  return (
    <div class="narrow">
      <h1>Your wallet is on another chain</h1>
      <p class="lead">
        It is on chain {session.chainId}. This platform is on {name}, chain {id}: nothing can be read or sent
        before the wallet is there too.
      </p>
      <button
        type="button"
        class="primary"
        disabled={busy}
        onClick={() => run(() => switchChain(session.wallet, settings))}
      >
        Switch to {name}
      </button>
      <FailureBox error={error} />
    </div>
  )
}
