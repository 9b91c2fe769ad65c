import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'

/** An address, with the demo wallet's name in the sandbox. */
export function WalletName({ address }: { address: string }) {
  const { settings } = useStore()
  const known = settings.demoWallets.find((wallet) => wallet.address === address)
  return (
    <span class="wallet-name" title={address}>
      {known === undefined ? null : <b>{known.name} </b>}
      <code>{shortHex(address)}</code>
    </span>
  )
}
