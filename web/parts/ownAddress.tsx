import { CopyAddress } from './copyAddress.js'

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
