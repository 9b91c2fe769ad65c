import { CopyAddress } from './copyAddress.js'

/** The wallet's address as a whole, for whoever has to be told it. */
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
