import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'

/** The name of a wallet: the one that this admin gave it, or a demo wallet's; null without one. */
export function useNames(): (address: string) => string | null {
  const { settings, account } = useStore()
  const given: ReadonlyMap<string, string> | undefined = account.value?.names.state.value.given
  return (address) =>
    given?.get(address) ?? settings.demoWallets.find((wallet) => wallet.address === address)?.name ?? null
}

/** An address, with its name if it has one. */
export function WalletName({ address }: { address: string }) {
  const name = useNames()(address)
  return (
    <span class="wallet-name" title={address}>
      {name === null ? null : <b>{name} </b>}
      <code>{shortHex(address)}</code>
    </span>
  )
}
