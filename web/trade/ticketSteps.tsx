import type { Prompt } from '../../src/client/index.js'
import { useAccount } from '../state/context.js'
import type { PlacingState } from '../state/placing.js'

const KINDS: Record<Prompt['kind'], string> = {
  signature: 'Signature',
  transaction: 'Transaction',
  batch: 'One transaction',
}

interface TicketStepsProps {
  /** What the wallet will be asked; null until it is known. */
  readonly planned: readonly Prompt[] | null
  /** Whether the ticket is an order yet, and it is known who opens it. */
  readonly isOrder: boolean
}

/** What the wallet will ask for the order, before and while it asks. */
export function TicketSteps({ planned, isOrder }: TicketStepsProps) {
  const { state } = useAccount().placing
  const { step, prompts: asked } = state.value
  const prompts = step === null ? planned : asked
  const current = prompts?.findIndex((prompt) => prompt.step === step) ?? -1
  const says = wordsOf(state.value, prompts?.[current])
  const count = prompts === null ? '' : `: ${prompts.length} ${prompts.length === 1 ? 'request' : 'requests'}`
  return (
    <>
      <p class="visually-hidden" role="status">
        {says}
      </p>
      <details open={step !== null}>
        <summary>What your wallet will ask{count}</summary>
        {prompts === null ? (
          <p class="hint">{!isOrder ? 'Enter the order first.' : 'Not known yet.'}</p>
        ) : (
          <ol class="asked">
            {prompts.map(({ kind, why }, index) => (
              <li key={why} aria-current={index === current ? 'step' : undefined}>
                <b>{KINDS[kind]}.</b> {why}
              </li>
            ))}
          </ol>
        )}
        {isWalletDone(state.value) ? <p class="muted">{says}</p> : null}
      </details>
    </>
  )
}

function isWalletDone({ step, byPlatform }: PlacingState): boolean {
  return step === 'submitting' || (step === 'opening' && byPlatform === true)
}

function wordsOf(state: PlacingState, prompt: Prompt | undefined): string | null {
  if (state.step === 'submitting') {
    return 'The escrow is open. The page sends the sealed order; your wallet is done.'
  }
  if (isWalletDone(state)) {
    return 'The platform opens the escrow. Your wallet is done; the chain needs a few seconds.'
  }
  return prompt === undefined ? null : `Check your wallet. ${KINDS[prompt.kind]}: ${prompt.why}`
}
