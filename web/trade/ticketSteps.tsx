import type { PlacingStep } from '../state/placing.js'
import { type Asking, askedFor } from './asked.js'

const SAYS: Record<PlacingStep, string> = {
  unlocking: 'Check your wallet: sign the text twice to open your portfolio.',
  signing: 'Check your wallet: sign the order.',
  approving: 'The order is sealed. Check your wallet: approve the USDC for the escrow.',
  opening: 'Check your wallet: open the escrow. The chain then needs a few seconds.',
  submitting: 'The escrow is open. The page sends the sealed order; your wallet is done.',
}

/** The wallet's prompts, before and while they appear. */
export function TicketSteps(asking: Asking) {
  const { step } = asking
  return (
    <>
      <p class="visually-hidden" role="status">
        {step === null ? null : SAYS[step]}
      </p>
      <details open={step !== null}>
        <summary>What your wallet will ask</summary>
        <ol class="asked">
          {askedFor(asking).map((asked) => (
            <li key={asked.step} aria-current={asked.step === step ? 'step' : undefined}>
              {asked.says}
            </li>
          ))}
        </ol>
        {step === 'submitting' ? (
          <p class="muted">Your wallet is done. The page sends the sealed order to the server.</p>
        ) : null}
      </details>
    </>
  )
}
