import { FailureBox } from '../parts/failureBox.js'
import { useStore } from '../state/context.js'
import type { FoundWallet } from '../wallet/discovery.js'
import './connect.css'

/** The first screen: what the platform is, and the wallets to connect. */
export function ConnectScreen() {
  const { found, error } = useStore().wallets
  const own = found.value.filter(({ demo }) => demo === null)
  const demo = found.value.filter((wallet) => wallet.demo !== null)
  return (
    <div class="narrow">
      <h1>Trade without showing your hand</h1>
      <p class="lead">
        Your order is sealed on this device. The server forwards it unread, the enclave executes it, and your
        portfolio comes back encrypted, so that only you can open it.
      </p>
      <FailureBox error={error.value} />
      <section class="card" aria-labelledby="wallets">
        <h2 id="wallets">Connect a wallet</h2>
        {own.length === 0 ? (
          <p class="muted">
            No wallet found in this browser. Install a wallet extension and it appears here, or open this page
            in your wallet app’s browser.
          </p>
        ) : (
          <WalletList wallets={own} />
        )}
      </section>
      {demo.length === 0 ? null : (
        <section class="card" aria-labelledby="demo-wallets">
          <h2 id="demo-wallets">
            Demo wallets <span class="tag">sandbox only</span>
          </h2>
          <p class="muted">
            Test accounts of the local chain. They sign without asking and hold no real money.
          </p>
          <WalletList wallets={demo} />
        </section>
      )}
    </div>
  )
}

function WalletList({ wallets }: { wallets: readonly FoundWallet[] }) {
  const { connecting, connect, cancel } = useStore().wallets
  return (
    <ul class="wallets">
      {wallets.map((wallet) => (
        <li key={wallet.id}>
          <button type="button" disabled={connecting.value === wallet} onClick={() => connect(wallet)}>
            {wallet.icon === null ? null : <img src={wallet.icon} alt="" width="24" height="24" />}
            <span class="wallet-button">
              <b>{wallet.name}</b>
              {wallet.demo === null ? null : <small>{wallet.demo}</small>}
            </span>
            {connecting.value === wallet ? <small>check your wallet…</small> : null}
          </button>
          {connecting.value === wallet ? (
            <button type="button" class="quiet" onClick={cancel}>
              Cancel
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
