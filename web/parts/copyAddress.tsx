import { useEffect, useState } from 'preact/hooks'

const SAID_MS = 4_000

/** Copies an address to the clipboard. If the browser refuses, shows the address for selection. */
export function CopyAddress({ address, of }: { address: string; of?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused' | null>(null)
  useEffect(() => {
    if (outcome !== 'copied') return
    const timer = window.setTimeout(() => setOutcome(null), SAID_MS)
    return () => window.clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(address)
      setOutcome('copied')
    } catch {
      setOutcome('refused')
    }
  }
  return (
    <>
      <button type="button" class="quiet" onClick={copy}>
        {outcome === 'copied' ? 'Copied' : 'Copy address'}
        {of === undefined ? null : <span class="visually-hidden"> {of}</span>}
      </button>
      <span role="status" class={outcome === 'refused' ? 'whole' : 'visually-hidden'}>
        {outcome === 'copied' ? 'Address copied' : outcome === 'refused' ? <code>{address}</code> : null}
      </span>
    </>
  )
}

/** The wallet's full address, for the user to pass on. */
export function OwnAddress({ address, use }: { address: string; use: string }) {
  return (
    <div class="box">
      <p class="muted">{use}</p>
      <p class="row">
        <code class="whole" data-test="own-address">
          {address}
        </code>
        <CopyAddress address={address} />
      </p>
    </div>
  )
}
