import { useAccount } from '../state/context.js'

/** Warns before an order that the rulebook in force predates the wallet's membership. */
export function StandingNote() {
  const { value } = useAccount().standing
  if (value === 'outsider') {
    return (
      <p class="box box-warn" role="status" data-test="not-covered">
        <strong>This wallet is not covered by the rulebook in force.</strong> The rulebook was published
        before this wallet was invited, and a rulebook names its members. The enclave refuses orders of a
        wallet that it does not name, and returns the money. Ask your admin to publish a new rulebook.
      </p>
    )
  }
  if (value === 'invited') {
    return (
      <p class="box box-warn" role="status" data-test="not-covered">
        <strong>This wallet may not be covered by the rulebook in force.</strong> The rulebook was published
        before this wallet joined. Only its admin knows whether it names this wallet already. If it does not,
        the enclave refuses its orders and returns the money.
      </p>
    )
  }
  return null
}
