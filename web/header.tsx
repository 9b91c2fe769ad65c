import { useState } from 'preact/hooks'
import { CopyAddress } from './parts/copyAddress.js'
import type { Route } from './state/browser.js'
import { useStore } from './state/context.js'
import { clockWords } from './words/clock.js'
import { shortHex } from './words/format.js'
import './header.css'

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
        <img src="./icon.svg" alt="" width="24" height="24" /> <span class="brand-name">Desk</span>
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
      {value.isOpen ? 'Open' : 'Closed'}
      <span class="roomy">, </span>
      <span class="clock-time">{clockWords(value, now.value)}</span>
    </span>
  )
}

/** The connected wallet; on a narrow screen its address and buttons stand below its name, once that is pressed. */
function WalletButton() {
  const { session, disconnect } = useStore().wallets
  const [isOpen, setOpen] = useState(false)
  if (session.value === null) return null
  const { wallet, address } = session.value
  const isDemo = wallet.demo !== null
  return (
    <div class={isOpen ? 'account account-open' : 'account'}>
      <button type="button" class="account-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isDemo ? wallet.name : shortHex(address)}
      </button>
      <div class="account-body">
        <span title={address}>
          {isDemo ? <b>{wallet.name} </b> : null}
          <code>{shortHex(address)}</code>
          {isDemo ? <span class="tag tag-beside">demo</span> : null}
        </span>
        <CopyAddress key={address} address={address} />
        <button
          type="button"
          class="quiet"
          onClick={() => {
            setOpen(false)
            disconnect()
          }}
        >
          Disconnect
        </button>
      </div>
    </div>
  )
}
