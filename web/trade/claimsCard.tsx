import type { Claim } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { useAccount } from '../state/context.js'
import { money, shares, shortHex } from '../words/format.js'

/** Lists claims that the wallet could not receive; hidden if there are none. */
export function ClaimsCard() {
  const { session, claims } = useAccount()
  const { value } = claims
  const { busy, error, run } = useAction()
  if (value === null || value.length === 0) return null
  const pay = ({ asset }: Claim, to: Claim['recipient']) =>
    run(async () => {
      await session.client.claim(asset, { to: to ?? undefined })
      claims.refresh()
    })
  return (
    <Card title="Waiting for you">
      <p class="muted">
        This could not be paid to your wallet, because its USDC is blocked or its shares are frozen. It is
        held for you, apart from the platform’s pool.
      </p>
      <ul class="claims">
        {value.map((claim) => (
          <li key={claim.asset} data-claim={claim.asset}>
            <b>{amountOf(claim)}</b>{' '}
            <button type="button" class="quiet" disabled={busy} onClick={() => pay(claim, null)}>
              {busy ? 'Waiting…' : 'Pay to this wallet'}
            </button>{' '}
            {claim.recipient === null ? null : (
              <button
                type="button"
                class="quiet"
                disabled={busy}
                title={claim.recipient}
                onClick={() => pay(claim, claim.recipient)}
              >
                Pay to {shortHex(claim.recipient)}
              </button>
            )}
          </li>
        ))}
      </ul>
      {value.every(({ recipient }) => recipient === null) ? (
        <p class="muted">
          If this wallet stays blocked, the operator can approve another verified wallet for it.
        </p>
      ) : null}
      <FailureBox error={error} />
    </Card>
  )
}

function amountOf({ asset, amount }: Claim): string {
  return asset === 'USDC' ? `${money(amount)} USDC` : `${shares(amount)} ${asset}`
}
