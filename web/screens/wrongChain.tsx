import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount, useStore } from '../state/context.js'
import { switchChain } from '../wallet/chain.js'

/** The wallet is on another chain than the platform. */
export function WrongChain() {
  const { settings } = useStore()
  const { session } = useAccount()
  const { busy, error, run } = useAction()
  const { name, id } = settings.chain
  return (
    <div class="narrow">
      <h1>Your wallet is on another chain</h1>
      <p class="lead">
        It is on chain {session.chainId}. This platform is on {name}, chain {id}: switch the wallet to that
        chain to continue.
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
