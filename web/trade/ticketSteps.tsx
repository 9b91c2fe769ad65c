import { useEffect, useState } from 'preact/hooks'
import type { OrderRequest, Prompt } from '../../src/client/index.js'
import { useAccount } from '../state/context.js'
import type { PlacingState } from '../state/placing.js'

const KINDS: Record<Prompt['kind'], string> = {
  signature: 'Signature',
  transaction: 'Transaction',
  batch: 'One transaction',
}

interface TicketStepsProps {
  /** Null while the ticket is no order yet, and while it is unknown who opens it. */
  readonly request: OrderRequest | null
  readonly sponsored: boolean
}

/** What the wallet will ask for the order, before and while it asks. */
export function TicketSteps({ request, sponsored }: TicketStepsProps) {
  const { state } = useAccount().placing
  const { step, prompts: asked } = state.value
  const planned = usePlan(step === null ? request : null, sponsored)
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
          <p class="hint">{request === null ? 'Enter the order first.' : 'Not known yet.'}</p>
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

/** Null until it is known. */
function usePlan(request: OrderRequest | null, sponsored: boolean): readonly Prompt[] | null {
  const { session, key, funds } = useAccount()
  const [plan, setPlan] = useState<{ of: string; prompts: readonly Prompt[] } | null>(null)
  // All that a plan depends on: the deadline goes on with the clock.
  const { side, symbol, usdc, shares, payFrom } = request ?? {}
  const place = [sponsored, key.value?.publicKey, funds.value?.allowance]
  const of = request === null ? null : [...place, side, symbol, usdc, shares, payFrom].join()
  useEffect(() => {
    if (request === null || of === null) return undefined
    const over = new AbortController()
    session.client.plan(request, { sponsored, signal: over.signal }).then(
      (prompts) => setPlan({ of, prompts }),
      // The order itself would fail in the same way, and say why.
      () => undefined,
    )
    return () => over.abort()
  }, [of])
  return plan !== null && plan.of === of ? plan.prompts : null
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
