import type { Settings } from '../settings.js'
import { shortHex } from '../words/format.js'

/** An address as a person knows it: in the sandbox by the demo wallet's name. */
export function WalletName({ address, settings }: { address: string; settings: Settings }) {
  const known = settings.demoWallets.find((wallet) => wallet.address === address)
  return (
    <span class="wallet-name" title={address}>
      {known === undefined ? null : <b>{known.name} </b>}
      <code>{shortHex(address)}</code>
    </span>
  )
}
