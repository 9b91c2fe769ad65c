import type { PlacingStep } from '../state/placing.js'
import { money } from '../words/format.js'

/** A wallet prompt, and the step of placing an order at which it appears. */
export interface Asked {
  readonly step: PlacingStep
  readonly says: string
}

export interface Asking {
  /** Whether the portfolio's key has been derived. */
  readonly unlocked: boolean
  /** USDC base units that the escrow takes. */
  readonly escrowed: bigint
  /** The amount that the escrow may already take. */
  readonly allowance: bigint
  /** The order's step; null before the first. */
  readonly step: PlacingStep | null
}

/** The wallet's prompts for an order, in order. */
export function askedFor({ unlocked, escrowed, allowance, step }: Asking): readonly Asked[] {
  const unlocking = {
    step: 'unlocking' as const,
    says: 'Sign a short text twice. This makes the key that opens your portfolio.',
  }
  const signing = { step: 'signing' as const, says: 'Sign the order. This device then seals it.' }
  const approving = {
    step: 'approving' as const,
    says: `Approve exactly ${money(escrowed)} USDC for the escrow.`,
  }
  const opening = {
    step: 'opening' as const,
    says:
      escrowed > 0n
        ? `Open the escrow with ${money(escrowed)} USDC. You get it back if the order is refused.`
        : 'Open the order on the chain. No amount shows there.',
  }
  return [
    ...(unlocked && step !== 'unlocking' ? [] : [unlocking]),
    signing,
    ...(escrowed > allowance || step === 'approving' ? [approving] : []),
    opening,
  ]
}
