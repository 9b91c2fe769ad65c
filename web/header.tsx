import { CopyAddress } from './parts/copyAddress.js'
import type { Route } from './state/browser.js'
import { useStore } from './state/context.js'
import { clockWords } from './words/clock.js'
import { shortHex } from './words/format.js'

export function Header() {
  const { account, route } = useStore()
  const isMember = (account.value?.orgId.value ?? null) !== null
  const places: readonly (readonly [Route, string])[] = [
    ['desk', 'Desk'],
    ...(isMember ? ([['institution', 'Institution']] as const) : []),
    ['operator', 'Operator'],
  ]
  return (
    <header class="top">
      <a class="brand" href="#/desk">
        <img src="./icon.svg" alt="" width="24" height="24" /> Desk
      </a>
      <nav aria-label="Places">
        {places.map(([place, label]) => (
          <a key={place} href={`#/${place}`} aria-current={place === route.value ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="top-end">
        <Clock />
        <WalletButton />
      </div>
    </header>
  )
}

function Clock() {
  const { clock, now } = useStore()
  const { value, error } = clock
  if (value === null) return error === null ? null : <span class="clock">Market hours unknown</span>
  return (
    <span class={value.isOpen ? 'clock clock-open' : 'clock'} data-test="clock">
      <span class="visually-hidden">Market: </span>
      {clockWords(value, now.value)}
    </span>
  )
}

function WalletButton() {
  const { session, disconnect } = useStore().wallets
  if (session.value === null) return null
  const { wallet, address } = session.value
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
