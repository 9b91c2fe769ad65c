import type { Sessions } from '../hooks/useSession.js'
import { FailureBox } from '../parts/failureBox.js'
import type { FoundWallet } from '../wallet/discovery.js'

/** The first thing to see: what this is, and the wallets to begin with. */
export function ConnectScreen({ sessions }: { sessions: Sessions }) {
  const own = sessions.wallets.filter(({ demo }) => demo === null)
  const demo = sessions.wallets.filter((wallet) => wallet.demo !== null)
  return (
    <div class="narrow">
      <h1>Trade without showing your hand</h1>
      <p class="lead">
        Your order is sealed on this device. The server carries it unread, the enclave carries it out, and
        your portfolio comes back as a cipher that this page alone opens.
      </p>
      <FailureBox error={sessions.error} />
      <section class="card" aria-labelledby="wallets">
        <h2 id="wallets">Connect a wallet</h2>
        {own.length === 0 ? (
          <p class="muted">This browser has no wallet. Install one as an extension, and it is listed here.</p>
        ) : (
          <WalletList wallets={own} sessions={sessions} />
        )}
      </section>
      {demo.length === 0 ? null : (
        <section class="card" aria-labelledby="demo-wallets">
          <h2 id="demo-wallets">
            Demo wallets <span class="tag">sandbox only</span>
          </h2>
          <p class="muted">
            Accounts of the local chain, which signs for them without asking. They are worth nothing anywhere
            else.
          </p>
          <WalletList wallets={demo} sessions={sessions} />
        </section>
      )}
    </div>
  )
}

function WalletList({ wallets, sessions }: { wallets: readonly FoundWallet[]; sessions: Sessions }) {
  const { connecting, connect, cancel } = sessions
  return (
    <ul class="wallets">
      {wallets.map((wallet) => (
        <li key={wallet.id}>
          <button type="button" disabled={connecting === wallet} onClick={() => connect(wallet)}>
            {wallet.icon === null ? null : <img src={wallet.icon} alt="" width="24" height="24" />}
            <span class="wallet-button">
              <b>{wallet.name}</b>
              {wallet.demo === null ? null : <small>{wallet.demo}</small>}
            </span>
            {connecting === wallet ? <small>look at your wallet…</small> : null}
          </button>
          {connecting === wallet ? (
            <button type="button" class="quiet" onClick={cancel}>
              Cancel
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
