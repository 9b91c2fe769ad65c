import type { PlacingStep } from '../state/placing.js'
import { type Asking, askedFor } from './asked.js'

const saysOf = ({ byPlatform, deposited }: Asking): Record<PlacingStep, string> => ({
  unlocking: 'Check your wallet: sign the text to open your portfolio, before your first order twice.',
  signing: 'Check your wallet: sign the order.',
  authorizing: byPlatform
    ? 'The order is sealed. Check your wallet: sign its opening, which the platform sends for you.'
    : 'The order is sealed. Check your wallet: sign its payment.',
  approving: `The order is sealed. Check your wallet: approve the ${deposited === null ? 'USDC' : 'shares'} for the escrow.`,
  opening: byPlatform
    ? 'The platform opens the escrow. Your wallet is done; the chain needs a few seconds.'
    : 'Check your wallet: open the escrow. The chain then needs a few seconds.',
  submitting: 'The escrow is open. The page sends the sealed order; your wallet is done.',
})

/** The wallet's prompts, before and while they appear. */
export function TicketSteps(asking: Asking) {
  const { step, byPlatform } = asking
  const isWalletDone = step === 'submitting' || (step === 'opening' && byPlatform === true)
  return (
    <>
      <p class="visually-hidden" role="status">
        {step === null ? null : saysOf(asking)[step]}
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
        {isWalletDone && step !== null ? <p class="muted">{saysOf(asking)[step]}</p> : null}
      </details>
    </>
  )
}
