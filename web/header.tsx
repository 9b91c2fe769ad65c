import type { MarketClock } from '../src/client/index.js'
import { useNow } from './hooks/useNow.js'
import type { Polled } from './hooks/usePolled.js'
import type { Route } from './hooks/useRoute.js'
import type { Sessions } from './hooks/useSession.js'
import { CopyAddress } from './parts/copyAddress.js'
import { clockWords } from './words/clock.js'
import { shortHex } from './words/format.js'

interface HeaderProps {
  readonly route: Route
  readonly places: readonly (readonly [route: Route, label: string])[]
  readonly clock: Polled<MarketClock>
  readonly sessions: Sessions
}

const TICK_MS = 10_000

export function Header({ route, places, clock, sessions }: HeaderProps) {
  return (
    <header class="top">
      <a class="brand" href="#/desk">
        <img src="./icon.svg" alt="" width="24" height="24" /> Desk
      </a>
      <nav aria-label="Places">
        {places.map(([place, label]) => (
          <a key={place} href={`#/${place}`} aria-current={place === route ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="top-end">
        {clock.value === null ? <NoClock error={clock.error} /> : <Clock clock={clock.value} />}
        <WalletButton sessions={sessions} />
      </div>
    </header>
  )
}

function Clock({ clock }: { clock: MarketClock }) {
  const now = useNow(TICK_MS)
  return (
    <span class={clock.isOpen ? 'clock clock-open' : 'clock'} data-test="clock">
      <span class="visually-hidden">Market: </span>
      {clockWords(clock, now)}
    </span>
  )
}

function NoClock({ error }: { error: unknown }) {
  return error === null ? null : <span class="clock">Market hours unknown</span>
}

function WalletButton({ sessions: { session, disconnect } }: { sessions: Sessions }) {
  if (session === null) return null
  const { wallet, address } = session
  return (
    <div class="account">
      <span title={address}>
        {wallet.demo === null ? null : <b>{wallet.name} </b>}
        <code>{shortHex(address)}</code>
        {wallet.demo === null ? null : <span class="tag tag-beside">demo</span>}
      </span>
      <CopyAddress key={address} address={address} />
      <button type="button" class="quiet" onClick={disconnect}>
        Disconnect
      </button>
    </div>
  )
}
