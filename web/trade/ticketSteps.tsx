import { money } from '../words/format.js'
import type { PlacingStep } from './usePlacing.js'

const SAYS: Record<PlacingStep, string> = {
  signing: 'Look at your wallet: it asks you to sign.',
  approving: 'The order is sealed. Look at your wallet: it asks you to let the escrow take the USDC.',
  opening:
    'Look at your wallet: it asks you to open the escrow. Then the chain has to take it, which may last.',
  submitting: 'The escrow is open. The server is given the sealed order; your wallet has nothing more to do.',
}

interface TicketStepsProps {
  readonly step: PlacingStep | null
  /** USDC base units that the escrow takes. */
  readonly escrowed: bigint
  readonly allowance: bigint
}

/** What the wallet asks for, before and while it does. */
export function TicketSteps({ step, escrowed, allowance }: TicketStepsProps) {
  return (
    <>
      <p class="visually-hidden" role="status">
        {step === null ? null : SAYS[step]}
      </p>
      <details open={step !== null}>
        <summary>What your wallet asks for</summary>
        <ol class="asked">
          <li aria-current={step === 'signing' ? 'step' : undefined}>
            To sign the order. It is sealed on this device then.
          </li>
          {escrowed > allowance || step === 'approving' ? (
            <li aria-current={step === 'approving' ? 'step' : undefined}>
              To let the escrow take {money(escrowed)} USDC, exactly that.
            </li>
          ) : null}
          <li aria-current={step === 'opening' ? 'step' : undefined}>
            {escrowed > 0n
              ? `To open the escrow with ${money(escrowed)} USDC. A refused order gives it back.`
              : 'To open the order on the chain, which shows no amount.'}
          </li>
        </ol>
        {step === 'submitting' ? (
          <p class="muted">Nothing more: the server is given the sealed order.</p>
        ) : null}
      </details>
    </>
  )
}
