import type { Signers } from '../../chain/authorityView.js'
import { encodeAuthorizationCall, targetOf } from '../../chain/authorizationCall.js'
import { createOrderEscrow, usdcDomain } from '../../chain/contracts.js'
import { encodeOpeningCall } from '../../chain/openingCall.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import type { ContractAddresses, Quota, Revert } from '../../protocol/api.js'
import {
  type Authorization,
  authorizationDigest,
  type SignedAuthorization,
} from '../../protocol/authorization.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type OrderOpening, openingDigest } from '../../protocol/opening.js'
import type { RelayedType } from '../../protocol/relayReceipt.js'
import { isSignedByKey } from '../../protocol/signature.js'
import { createSharedValue, createTimedValue } from '../../service/waiting.js'
import type { Curve } from '../signer/curve.js'
import type { GasPurpose } from '../store/receipts.js'

/** The relay refuses an authorization. Nothing was signed or stored for it. */
export class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal'

  constructor(
    readonly reason:
      | { readonly code: 'invalid-signature' | 'invalid-opening' | 'opening-not-sponsored' }
      | { readonly code: 'relayer-underfunded' | 'relay-overloaded' }
      | { readonly code: 'would-revert'; readonly revert: Revert }
      | { readonly code: 'relay-quota-exhausted'; readonly quota: Quota; readonly retryAfterMs: number }
      | { readonly code: 'relay-budget-exhausted'; readonly retryAfterMs: number },
  ) {
    super(`authorization refused: ${reason.code}`)
  }
}

/** An authorization that the enclave signed, or an opening that an account signed, as the call that brings it to the chain. */
export interface VerifiedAuthorization {
  /** The EIP-712 digest, its id in all stores and routes. */
  readonly digest: Hex
  readonly primaryType: RelayedType
  readonly target: Hex
  readonly data: Hex
  readonly purpose: GasPurpose
}

/**
 * Checks that the chain's signer has signed an authorization. The digest is computed for our chain and our contract, so a signature for
 * any other recovers to some other signer.
 * @returns throws RelayRefusal `invalid-signature`; ChainUnavailableError, ChainAnswerError
 */
export function createAuthorizationVerifier(rules: {
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly signers: () => Promise<Signers>
  readonly isSignedBy: Curve['isSignedBy']
}) {
  const isSigned = createSignerOfChain(rules)
  return async (authorization: SignedAuthorization): Promise<VerifiedAuthorization> => {
    const { primaryType, signature } = authorization
    const target = targetOf(primaryType, rules.contracts)
    const digest = authorizationDigest(authorization, { chainId: rules.chainId, verifyingContract: target })
    if (!(await isSigned(digest, signature))) throw new RelayRefusal({ code: 'invalid-signature' })
    const data = encodeAuthorizationCall(authorization)
    return { digest, primaryType, target, data, purpose: gasPurposeOf(authorization) }
  }
}

/** `OrderEscrow.State.OPEN`. */
const OPEN = 1n

/** Derived from fields that the enclave signs and the contracts check. */
export function gasPurposeOf({ primaryType, message }: Authorization): GasPurpose {
  switch (primaryType) {
    case 'PortfolioUpdate':
      return ofOrder(message.state === OPEN ? 'hold' : 'finish', message)
    case 'OrderSettlement':
      return ofOrder(message.payout === 0n ? 'finish' : 'account', message)
    case 'OrderRefund':
      return ofOrder(message.enclaveBlob === '0x' ? 'account' : 'finish', message)
    case 'PolicyUpdate':
      return { kind: 'institution', orgId: message.orgId }
    // A move counts on no quota, because the owner has approved it.
    case 'PortfolioMove':
    case 'BatchMint':
    case 'BatchBurn':
      return { kind: 'platform' }
  }
}

function ofOrder(
  kind: 'hold' | 'finish' | 'account',
  { orderId, account }: Pick<Extract<GasPurpose, { kind: 'hold' }>, 'orderId' | 'account'>,
): GasPurpose {
  return kind === 'account' ? { kind, account } : { kind, orderId, account }
}

const FRESH_MS = 5_000
/** How long it serves while another one is read. The contract judges again before gas is spent. */
const USABLE_MS = 30_000

/**
 * Whether the chain's signer has signed a digest. The signers are read every five seconds at most, and only while authorizations come. A
 * signature of the next signer has them read at once: it may be in force by now.
 */
function createSignerOfChain({
  signers,
  isSignedBy,
}: Pick<Parameters<typeof createAuthorizationVerifier>[0], 'signers' | 'isSignedBy'>) {
  const shared = createSharedValue({ load: signers, freshMs: () => FRESH_MS, usableMs: () => USABLE_MS })
  return async (digest: Hex, signature: Hex): Promise<boolean> => {
    const { value, isFresh } = await shared.get()
    if (await isSignedBy(value.signer, digest, signature)) return true
    const { pending } = value
    const isByNext = pending !== null && isSignedByKey(pending.to, digest, signature)
    return (isByNext || !isFresh) && isSignedBy((await shared.join()).signer, digest, signature)
  }
}

/**
 * Checks that the account signed the opening, and makes the call of it.
 * @returns throws RelayRefusal `invalid-opening`; ChainUnavailableError, ChainAnswerError until USDC's domain was read, which is once
 */
export function createOpeningVerifier(rpc: Pick<Rpc, 'send'>, domain: IntentDomain) {
  const caller = createViewCaller(rpc)
  const place = createTimedValue(Number.POSITIVE_INFINITY, async () => {
    const usdc = await createOrderEscrow(caller, domain.escrow).usdc()
    return { ...domain, usdc: await usdcDomain(caller, usdc) }
  })
  return async (order: OrderOpening, signature: Hex): Promise<VerifiedAuthorization> => {
    const known = await place()
    const { account, amount } = order
    const digest = openingDigest(order, known)
    if (!isSignedByKey(account, digest, signature)) throw new RelayRefusal({ code: 'invalid-opening' })
    return {
      digest,
      primaryType: amount > 0n ? 'BuyOpening' : 'RequestOpening',
      target: known.escrow,
      data: encodeOpeningCall(order, signature),
      purpose: { kind: 'account', account },
    }
  }
}
