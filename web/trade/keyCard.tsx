import { useState } from 'preact/hooks'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { saveFile } from '../parts/saveFile.js'
import type { Session } from '../wallet/session.js'
import { timeOfDay } from '../words/format.js'
import { type KeyInUse, newestMade, takeKeyFile } from './portfolioKeys.js'

interface KeyCardProps {
  readonly session: Session
  /** When the key in use was made, in Unix seconds; 0 for the one that the wallet derives, null while none is. */
  readonly drawnAt: number | null
  /** A newer key was made than the one in use. */
  readonly missing: boolean
  /** The chain still has the portfolio sealed to an older key than the one in use. */
  readonly waits: boolean
  readonly onOpened: (key: KeyInUse) => void
}

/** Replaces the portfolio's key when it was phished, and takes the file of one that was made. */
export function KeyCard({ session, drawnAt, missing, waits, onOpened }: KeyCardProps) {
  const { client, address } = session
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
        onOpened(await takeKeyFile(client, await file.text()))
        setSaved(null)
      } finally {
        // So that the same file can be chosen again.
        input.value = ''
      }
    })
  return (
    <Card title="Portfolio key" aside={<span class="muted">{keyWords(drawnAt)}</span>}>
      {missing ? (
        <div class="box box-bad" role="alert">
          <strong>A newer key was made on {timeOf(newestMade(address))}</strong>
          <p>
            Choose its file before you order. If the file is lost, make a new key: money is safe, and your
            next order makes the portfolio readable again.
          </p>
        </div>
      ) : null}
      {waits ? (
        <p class="box" data-test="key-waits">
          The chain still has your portfolio sealed to the older key, and a thief of that one reads it. Your
          next order replaces it, unless the enclave refuses the order. The smallest is a withdrawal of cash.
        </p>
      ) : null}
      <details open={saved !== null || missing}>
        <summary>Was it phished, or do you have a key file?</summary>
        <p class="muted">
          A page that got your signature of “Service portfolio key v1” reads your portfolio. If you signed it
          on any other page than this, make a new key, which no signature gives. What was read stays read. If
          you have a key file already, choose it first: the new file then holds its keys too.
        </p>
        <button type="button" disabled={making.busy} onClick={make}>
          Make a new key
        </button>
        <FailureBox error={making.error} />
        {saved === null ? null : (
          <div class="box" role="status">
            <strong>Keep the file {saved}</strong>
            <p>
              Put it where you keep your passwords, and a copy elsewhere. This page forgets the key, and your
              wallet cannot give it again. If you lose the file, your money is safe, but the portfolio stays
              closed until an order under another new key, and reasons of refusals that were sealed to it stay
              closed for ever.
            </p>
            <p>The new key is not in use yet: choose the file here.</p>
          </div>
        )}
        <Field
          label="Use a key file"
          id="key-file"
          hint="The file is read in this page and sent nowhere. After a reload, and in other browsers, choose it again."
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

function keyWords(drawnAt: number | null): string {
  if (drawnAt === null) return 'none in use'
  return drawnAt === 0 ? 'made by your wallet' : `made on ${timeOf(drawnAt)}`
}

const timeOf = (seconds: number) => timeOfDay(new Date(seconds * 1_000).toISOString(), new Date(0))
