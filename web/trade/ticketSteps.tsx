import { type Asking, askedFor } from './asked.js'
import type { PlacingStep } from './usePlacing.js'

const SAYS: Record<PlacingStep, string> = {
  unlocking: 'Look at your wallet: it asks you to sign one text, twice, for the key of your portfolio.',
  signing: 'Look at your wallet: it asks you to sign the order.',
  approving: 'The order is sealed. Look at your wallet: it asks you to let the escrow take the USDC.',
  opening:
    'Look at your wallet: it asks you to open the escrow. Then the chain has to take it, which may last.',
  submitting: 'The escrow is open. The server is given the sealed order; your wallet has nothing more to do.',
}

/** What the wallet asks for, before and while it does. */
export function TicketSteps(asking: Asking) {
  const { step } = asking
  return (
    <>
      <p class="visually-hidden" role="status">
        {step === null ? null : SAYS[step]}
      </p>
      <details open={step !== null}>
        <summary>What your wallet asks for</summary>
        <ol class="asked">
          {askedFor(asking).map((asked) => (
            <li key={asked.step} aria-current={asked.step === step ? 'step' : undefined}>
              {asked.says}
            </li>
          ))}
        </ol>
        {step === 'submitting' ? (
          <p class="muted">Nothing more: the server is given the sealed order.</p>
        ) : null}
      </details>
    </>
  )
}
