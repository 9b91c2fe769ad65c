import type { PlacingStep } from '../state/placing.js'
import { type Asking, askedFor } from './asked.js'

const SAYS: Record<PlacingStep, string> = {
  unlocking: 'Look at your wallet: it asks you to sign one text twice, for the key of your portfolio.',
  signing: 'Look at your wallet: it asks you to sign the order.',
  approving: 'The order is sealed. Look at your wallet: it asks you to let the escrow take the USDC.',
  opening: 'Look at your wallet: it asks you to open the escrow. The chain then needs some time.',
  submitting: 'The escrow is open. The page is sending the sealed order to the server; your wallet is done.',
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
        <summary>What your wallet asks for</summary>
        <ol class="asked">
          {askedFor(asking).map((asked) => (
            <li key={asked.step} aria-current={asked.step === step ? 'step' : undefined}>
              {asked.says}
            </li>
          ))}
        </ol>
        {step === 'submitting' ? (
          <p class="muted">Your wallet is done: the page is sending the sealed order to the server.</p>
        ) : null}
      </details>
    </>
  )
}
