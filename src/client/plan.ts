import { formatGrouped, formatUsdc, SHARE_DECIMALS } from '../protocol/units.js'
import type { Payment } from './escrow.js'

/**
 * The step that an order waits for: the portfolio's key where none is held, the order's signature, the signature of its opening, the USDC
 * approval, the opening of the escrow (by the wallet or by the platform), or submission to the server.
 */
export type PlaceStep = 'unlocking' | 'signing' | 'authorizing' | 'approving' | 'opening' | 'submitting'

/** A request that the wallet will show to its person. */
export interface Prompt {
  readonly step: Exclude<PlaceStep, 'submitting'>
  /** A signature costs nothing. A transaction costs gas, and so does a batch: several calls in one transaction (EIP-5792). */
  readonly kind: 'signature' | 'transaction' | 'batch'
  /** What it is for, in a sentence for the person. */
  readonly why: string
}

/** How an order gets into the escrow: by the platform, or by the wallet's transaction, with what it needs before. */
export type Route = 'sponsored' | 'allowed' | 'signed' | 'approved' | 'batch'

/** The requests for an order, in their order. @param signatures for the portfolio's key; 0 where it is held */
export function promptsOf(
  signatures: number,
  route: Route,
  payment: Payment | null,
  approved: bigint,
): readonly Prompt[] {
  const signature = (step: Prompt['step'], why: string): Prompt => ({ step, kind: 'signature', why })
  const transaction = (step: Prompt['step'], why: string): Prompt => ({ step, kind: 'transaction', why })
  const key = [
    signature('unlocking', 'Makes the key that opens your portfolio.'),
    signature(
      'unlocking',
      'Shows that your wallet makes the same key again: it signs the same text a second time.',
    ),
  ].slice(0, signatures)
  const paid = payment === null ? null : wordsOf(payment, payment.amount)
  const into = `${paid} into the escrow. You get it back if the order is refused.`
  const opens = paid === null ? 'Opens the order on the chain. No amount shows there.' : `Pays ${into}`
  const opening = transaction('opening', opens)
  const allows = `Lets the escrow take ${payment && wordsOf(payment, approved)}`
  const routes: Record<Route, () => readonly Prompt[]> = {
    sponsored: () => [signature('authorizing', `${opens} The platform sends it and pays the network fee.`)],
    allowed: () => [opening],
    signed: () => [signature('authorizing', `Allows the payment of ${paid}, for this order alone.`), opening],
    approved: () => [transaction('approving', `${allows}.`), opening],
    batch: () => [
      {
        ...opening,
        kind: 'batch',
        why: payment?.amount === approved ? `Approves and pays ${into}` : `${allows}, and pays ${into}`,
      },
    ],
  }
  return [
    ...key,
    signature('signing', 'Is your order. This device then seals it for the enclave.'),
    ...routes[route](),
  ]
}

function wordsOf({ symbol }: Payment, amount: bigint): string {
  return symbol === 'USDC' ? formatUsdc(amount) : `${formatGrouped(amount, SHARE_DECIMALS)} ${symbol}`
}
