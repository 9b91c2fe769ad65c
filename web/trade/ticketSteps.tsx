import { money } from '../words/format.js'
import type { PlacingStep } from './usePlacing.js'

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
        {step === 'signing' ? 'Look at your wallet: it asks you to sign.' : null}
        {step === 'opening'
          ? 'The order is sealed. Look at your wallet: it asks you to open the escrow.'
          : null}
      </p>
      <details open={step !== null}>
        <summary>What your wallet asks for</summary>
        <ol class="asked">
          <li aria-current={step === 'signing' ? 'step' : undefined}>
            To sign the order. It is sealed on this device then.
          </li>
          {escrowed > allowance ? (
            <li aria-current={step === 'opening' ? 'step' : undefined}>
              To let the escrow take {money(escrowed)} USDC, exactly that.
            </li>
          ) : null}
          <li aria-current={step === 'opening' ? 'step' : undefined}>
            {escrowed > 0n
              ? `To open the escrow with ${money(escrowed)} USDC. A refused order gives it back.`
              : 'To open the order on the chain, which shows no amount.'}
          </li>
        </ol>
      </details>
    </>
  )
}
