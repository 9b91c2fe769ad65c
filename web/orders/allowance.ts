import type { Prompt } from '../../src/client/index.js'
import { money } from '../words/format.js'

/** How many orders like this one an allowance for later ones pays: enough to save requests, and no more than its owner would miss. */
const ORDERS = 10n

/** What the escrow may take for this order and later ones, in USDC base units. */
export function allowanceFor(units: bigint): bigint {
  return units * ORDERS
}

/**
 * Whether an allowance for later orders would save requests: the wallet itself opens the order, by a payment that it has to allow first.
 * A batch has both in one, and the platform sends what the wallet has signed.
 */
export function wouldSaveRequests(prompts: readonly Prompt[]): boolean {
  const steps = prompts.map(({ step }) => step)
  return steps.includes('opening') && (steps.includes('authorizing') || steps.includes('approving'))
}

/** What a choice means. @param plan what the wallet is asked now; null while it is not known */
export function allowanceWords(
  allowed: 'order' | 'later',
  units: bigint,
  plan: readonly Prompt[] | null,
): string {
  const counts = plan === null ? '' : ` ${requestsOf(plan, allowed)}`
  if (allowed === 'order') {
    return `The escrow may take ${money(units)} USDC for this order, and nothing later.${counts}`
  }
  const most = `The escrow may take up to ${money(allowanceFor(units))} USDC from this wallet: this order, and ${ORDERS - 1n} more like it.`
  const bounds =
    'It takes nothing but for an order that this wallet sends. You can withdraw what is left at any time, under “Allowance”.'
  return `${most} ${bounds}${counts}`
}

function requestsOf(plan: readonly Prompt[], allowed: 'order' | 'later'): string {
  const again = plan.filter(
    ({ step }) => step !== 'unlocking' && !(step === 'approving' && allowed === 'later'),
  )
  return `Your wallet is asked ${plan.length} times now, and ${again.length} times for each later order.`
}
