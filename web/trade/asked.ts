import { money } from '../words/format.js'
import type { PlacingStep } from './usePlacing.js'

/** Something that the wallet asks of its person, and the step of placing an order at which it does. */
export interface Asked {
  readonly step: PlacingStep
  readonly says: string
}

export interface Asking {
  /** Whether the portfolio's key has been derived. */
  readonly unlocked: boolean
  /** USDC base units that the escrow takes. */
  readonly escrowed: bigint
  /** What it may take already. */
  readonly allowance: bigint
  /** How far the order is; null before. */
  readonly step: PlacingStep | null
}

/** What the wallet asks for on the way to an order, in this order. */
export function askedFor({ unlocked, escrowed, allowance, step }: Asking): readonly Asked[] {
  const unlocking = {
    step: 'unlocking' as const,
    says: 'To sign one text, twice. The key that opens your portfolio is made of that.',
  }
  const signing = { step: 'signing' as const, says: 'To sign the order. It is sealed on this device then.' }
  const approving = {
    step: 'approving' as const,
    says: `To let the escrow take ${money(escrowed)} USDC, exactly that.`,
  }
  const opening = {
    step: 'opening' as const,
    says:
      escrowed > 0n
        ? `To open the escrow with ${money(escrowed)} USDC. A refused order gives it back.`
        : 'To open the order on the chain, which shows no amount.',
  }
  return [
    ...(unlocked && step !== 'unlocking' ? [] : [unlocking]),
    signing,
    ...(escrowed > allowance || step === 'approving' ? [approving] : []),
    opening,
  ]
}
