import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { newestMade, takeKeyFile } from '../orders/portfolioKeys.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { isKeyMissing } from '../state/account.js'
import { saveFile } from '../state/browser.js'
import { useAccount } from '../state/context.js'
import { timeOfDay } from '../words/format.js'

/** Makes the key of a wallet that derives none, replaces a phished one, and imports the file of a drawn one. */
export function KeyCard() {
  const { session, key, portfolio, isFileNeeded } = useAccount()
  const { client, address } = session
  const opened = portfolio.value?.portfolio
  const missing = isKeyMissing(address, key.value)
  // The portfolio on the chain is still sealed to an older key than the one in use.
  const waits = opened !== undefined && key.value !== null && opened.userPubKey !== key.value.publicKey
  const [saved, setSaved] = useState<string | null>(null)
  const making = useAction()
  const taking = useAction()
  const make = () =>
    making.run(async () => {
      const text = await client.drawKey()
      const name = `portfolio-keys-${address.slice(0, 10)}-${Date.now()}.json`
      saveFile(name, text)
      setSaved(name)
    })
  const take = (input: HTMLInputElement) =>
    taking.run(async () => {
      const [file] = input.files ?? []
      if (file === undefined) return
      try {
        key.value = await takeKeyFile(client, await file.text())
        setSaved(null)
      } finally {
        // Lets the user choose the same file again.
        input.value = ''
      }
    })
  return (
    <Card title="Portfolio key" aside={<span class="muted">{keyWords(key.value?.drawnAt ?? null)}</span>}>
      {missing ? (
        <div class="box box-bad" role="alert">
          <strong>A newer key was made on {timeOf(newestMade(address))}</strong>
          <p>
            Choose its file before you order. If the file is lost, make a new key: money is safe, and your
            next order makes the portfolio readable again.
          </p>
        </div>
      ) : null}
      {isFileNeeded.value && !missing ? (
        <div class="box" role="status">
          <strong>Your wallet needs a key file</strong>
          <p>
            It signs the same text differently each time, as wallets with several keys do, or is a contract,
            so it cannot make the key of your portfolio again. Make a key here, keep its file, and choose that
            file. Then you can order.
          </p>
        </div>
      ) : null}
      {waits ? (
        <p class="box box-warn" data-test="key-waits">
          Your portfolio on the chain is still sealed to the older key, so a thief of that key can read it.
          Your next accepted order changes that. The smallest one is a withdrawal of cash.
        </p>
      ) : null}
      <details open={saved !== null || missing || isFileNeeded.value}>
        <summary>Replace the key, or use a key file</summary>
        <p class="muted">
          A page on which you signed “Service portfolio key v1” can read your portfolio. If you signed it
          anywhere but here, make a new key. It protects everything from your next order on. If you already
          have a key file, choose it first, so that the new file holds its keys too.
        </p>
        <button type="button" disabled={making.busy} onClick={make}>
          Make a new key
        </button>
        <FailureBox error={making.error} />
        {saved === null ? null : (
          <div class="box" role="status">
            <strong>Keep the file {saved}</strong>
            <p>
              Store it with your passwords, and a copy elsewhere. This page forgets the key, and your wallet
              cannot recover it. If you lose the file, your money is safe, but the portfolio stays closed
              until an order under another new key. Reasons of refusals sealed to the lost key stay
              unreadable.
            </p>
            <p>The new key is not in use yet: choose the file here.</p>
          </div>
        )}
        <Field
          label="Use a key file"
          id="key-file"
          hint="The file stays on this device. After a reload, and in other browsers, choose it again."
        >
          <input
            id="key-file"
            type="file"
            accept=".json,application/json"
            aria-describedby={hintId('key-file')}
            disabled={taking.busy}
            onChange={({ currentTarget }) => take(currentTarget)}
          />
        </Field>
        <FailureBox error={taking.error} />
      </details>
    </Card>
  )
}

/** @param drawnAt the creation time of the key in use, in Unix seconds; 0 for the derived key, null without a key */
function keyWords(drawnAt: number | null): string {
  if (drawnAt === null) return 'none in use'
  return drawnAt === 0 ? 'made by your wallet' : `made on ${timeOf(drawnAt)}`
}

const timeOf = (seconds: number) => timeOfDay(new Date(seconds * 1_000).toISOString(), new Date(0))
