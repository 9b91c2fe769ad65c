import type { PlacingStep } from '../state/placing.js'
import { money, shares } from '../words/format.js'

/** A wallet prompt, and the step of placing an order at which it appears. */
export interface Asked {
  readonly step: PlacingStep
  readonly says: string
}

export interface Asking {
  /** Whether the portfolio's key has been derived. */
  readonly unlocked: boolean
  /** Whether the platform opens the order and pays for it; null while the page does not know. */
  readonly byPlatform: boolean | null
  /** USDC base units that the escrow takes; null while the amount is not entered. */
  readonly escrowed: bigint | null
  /** The shares that the escrow takes instead, in base units; null for every order but a deposit of shares. */
  readonly deposited: { readonly symbol: string; readonly amount: bigint | null } | null
  /** The amount that the escrow may already take. */
  readonly allowance: bigint
  /** The order's step; null before the first. */
  readonly step: PlacingStep | null
}

const UNLOCKING: Asked = {
  step: 'unlocking',
  says: 'Sign a short text, before your first order twice. This makes the key that opens your portfolio.',
}
const SIGNING: Asked = { step: 'signing', says: 'Sign the order. This device then seals it.' }

/** The wallet's prompts for an order, in order. */
export function askedFor(asking: Asking): readonly Asked[] {
  const { unlocked, step } = asking
  return [...(unlocked && step !== 'unlocking' ? [] : [UNLOCKING]), SIGNING, ...promptsFor(asking)]
}

function promptsFor(asking: Asking): readonly Asked[] {
  if (asking.deposited !== null) return depositPrompts(asking.deposited)
  if (asking.byPlatform === null) return [eitherFor(asking)]
  return asking.byPlatform ? [authorizingFor(asking)] : ownPrompts(asking)
}

const amountOf = (escrowed: bigint | null) =>
  escrowed === null ? 'the order’s USDC' : `exactly ${money(escrowed)} USDC`

/** A signature: no ether, and no transaction. */
function authorizingFor({ escrowed }: Asking): Asked {
  const says =
    escrowed === 0n
      ? 'Sign the opening. The platform sends it and pays the network fee. No amount shows on the chain.'
      : `Sign the payment of ${amountOf(escrowed)} into the escrow. The platform sends it and pays the network fee. You get the USDC back if the order is refused.`
  return { step: 'authorizing', says }
}

/** The prompt while it is unknown whether the platform or the wallet opens the order. */
function eitherFor({ escrowed }: Asking): Asked {
  const says =
    escrowed === 0n
      ? 'Open the order: a signature if the platform pays the network fee, else a transaction. No amount shows on the chain.'
      : `Pay ${amountOf(escrowed)} into the escrow: a signature if the platform pays the network fee, else also a transaction. You get the USDC back if the order is refused.`
  return { step: 'opening', says }
}

/** Shares take no signature in place of an approval. */
function depositPrompts({ symbol, amount }: NonNullable<Asking['deposited']>): readonly Asked[] {
  const taken = amount === null ? `the ${symbol} shares` : `exactly ${shares(amount)} ${symbol}`
  return [
    { step: 'approving', says: `Approve ${taken} for the escrow, unless your wallet does both in one step.` },
    { step: 'opening', says: `Open the escrow with ${taken}. You get them back if the order is refused.` },
  ]
}

/** One transaction. A payment that is not approved yet is signed first, or approved where the wallet cannot sign it. */
function ownPrompts({ escrowed, allowance, step }: Asking): readonly Asked[] {
  const opening: Asked = {
    step: 'opening',
    says:
      escrowed === 0n
        ? 'Open the order on the chain. No amount shows there.'
        : `Open the escrow with ${amountOf(escrowed)}. You get it back if the order is refused.`,
  }
  if (step === 'approving') {
    return [{ step, says: `Approve ${amountOf(escrowed)} for the escrow.` }, opening]
  }
  if (escrowed !== null && escrowed <= allowance) return [opening]
  const says = `Sign the payment of ${amountOf(escrowed)} into the escrow, unless your wallet pays and opens in one step.`
  return [{ step: 'authorizing', says }, opening]
}
