import { useState } from 'preact/hooks'
import type { FrozenHolding, Listings, ReadList } from '../../src/client/index.js'
import { applyChange } from '../../src/client/operator.js'
import { useAction } from '../hooks/useAction.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import type { Account } from '../state/account.js'
import { useStore } from '../state/context.js'
import { shortHex } from '../words/format.js'
import { changeOf } from './listingChange.js'
import { OwnersButton } from './ownersButton.js'

/** The equities with their state, and the frozen holdings. The owner changes both. */
export function ListingsCard() {
  const { listings, account } = useStore()
  const { value } = listings
  const owner = account.value?.isOwner.value === true ? account.value : null
  return (
    <Card title="Listings and freezes">
      <ListState what="listings" query={listings} count={value?.equities.length ?? 0} />
      {value === null ? null : <Equities {...value} />}
      {value === null ? null : <Frozen {...value} />}
      {value === null || owner === null ? null : <Changes owner={owner} listings={value} />}
    </Card>
  )
}

function Equities({ equities, isComplete }: Listings & Pick<ReadList, 'isComplete'>) {
  const { listings } = useStore()
  if (isComplete && equities.length === 0) return <p class="muted">No equity is listed.</p>
  return (
    <Paged id="equities" what="equities" items={equities} textOf={({ symbol }) => symbol}>
      {(shown) => (
        <ul class="waiting" data-test="listings">
          {shown.map(({ symbol, isListed }) => (
            <li key={symbol}>
              <b>{symbol}</b>{' '}
              <span class={`tag tag-${isListed ? 'good' : 'warn'}`}>{isListed ? 'listed' : 'delisted'}</span>
              <OwnersButton
                says={isListed ? 'Delist' : 'List'}
                subject={symbol}
                act={({ session }) =>
                  applyChange(session.client, { kind: 'listing', symbol, isListed: !isListed })
                }
                onDone={listings.refresh}
              />
            </li>
          ))}
        </ul>
      )}
    </Paged>
  )
}

function Frozen({ frozen, isComplete }: Listings & Pick<ReadList, 'isComplete'>) {
  const { listings } = useStore()
  const nameOf = useNames()
  if (isComplete && frozen.length === 0) return <p class="muted">No holding is frozen.</p>
  return (
    <Paged id="frozen" what="frozen holdings" items={frozen} textOf={textOf}>
      {(shown) => (
        <ul class="waiting" data-test="frozen">
          {shown.map(({ symbol, wallet }) => (
            <li key={`${symbol} ${wallet}`}>
              <b>{symbol}</b> of <WalletName address={wallet} /> <span class="tag tag-bad">frozen</span>
              <OwnersButton
                says="Release"
                subject={`${symbol} of ${nameOf(wallet) ?? shortHex(wallet)}`}
                act={({ session }) =>
                  applyChange(session.client, { kind: 'freeze', symbol, wallet, isFrozen: false })
                }
                onDone={listings.refresh}
              />
            </li>
          ))}
        </ul>
      )}
    </Paged>
  )
}

function textOf({ symbol, wallet }: FrozenHolding): string {
  return `${symbol} ${wallet}`
}

/** Lists an equity, or freezes a wallet's holding of one. */
function Changes({ owner, listings }: { readonly owner: Account; readonly listings: Listings }) {
  const { listings: query } = useStore()
  const { client } = owner.session
  const { busy, error, run } = useAction()
  const [symbolText, setSymbolText] = useState('')
  const [walletText, setWalletText] = useState('')
  const [done, setDone] = useState<string | null>(null)
  const input = changeOf(symbolText, walletText, listings)
  const submit = (event: Event) => {
    event.preventDefault()
    if (input.change === null) return
    const { symbol, wallet } = input.change
    run(async () => {
      setDone(null)
      if (wallet === null) await applyChange(client, { kind: 'listing', symbol, isListed: true })
      else await applyChange(client, { kind: 'freeze', symbol, wallet, isFrozen: true })
      setDone(wallet === null ? `${symbol} is listed.` : `${symbol} of ${shortHex(wallet)} is frozen.`)
      setSymbolText('')
      setWalletText('')
      query.refresh()
    })
  }
  return (
    <form onSubmit={submit}>
      <Field
        label="Ticker symbol"
        id="listing-symbol"
        hint="Such as AAPL, as the broker writes it."
        error={input.symbolFault}
      >
        <input
          id="listing-symbol"
          aria-describedby={hintId('listing-symbol')}
          aria-invalid={input.symbolFault !== null}
          required
          autocomplete="off"
          spellcheck={false}
          value={symbolText}
          onInput={(event) => setSymbolText(event.currentTarget.value)}
        />
      </Field>
      <Field
        label="Wallet to freeze"
        id="freeze-wallet"
        hint="Leave it empty to list the equity. A frozen holding can neither be sold nor withdrawn."
        error={input.walletFault}
      >
        <input
          id="freeze-wallet"
          aria-describedby={hintId('freeze-wallet')}
          aria-invalid={input.walletFault !== null}
          autocomplete="off"
          spellcheck={false}
          placeholder="0x…"
          value={walletText}
          onInput={(event) => setWalletText(event.currentTarget.value)}
        />
      </Field>
      <button type="submit" class="primary" disabled={busy || input.change === null}>
        {busy ? 'Sending…' : walletText.trim() === '' ? 'List' : 'Freeze'}
      </button>
      {done === null ? null : (
        <p class="box box-good" role="status">
          {done}
        </p>
      )}
      <FailureBox error={error} />
    </form>
  )
}
