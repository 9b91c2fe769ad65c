import { encodeAuthorizationCall, targetOf } from '../../chain/authorizationCall.js'
import type { ContractAddresses, Quota, RelayedType, Revert } from '../../protocol/api.js'
import {
  type Authorization,
  authorizationDigest,
  type SignedAuthorization,
} from '../../protocol/authorization.js'
import type { Hex } from '../../protocol/hex.js'
import type { GasPurpose } from '../store/receipts.js'
import type { IsSignedBySigner } from './signerCheck.js'

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
    cause?: unknown,
  ) {
    super(`authorization refused: ${reason.code}`, { cause })
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
 * @throws RelayRefusal `invalid-signature`; ChainUnavailableError, ChainAnswerError
 */
export type VerifyAuthorization = (authorization: SignedAuthorization) => Promise<VerifiedAuthorization>

export function createAuthorizationVerifier(rules: {
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly isSigned: IsSignedBySigner
}): VerifyAuthorization {
  return async (authorization) => {
    const { primaryType, signature } = authorization
    const target = targetOf(primaryType, rules.contracts)
    const digest = authorizationDigest(authorization, { chainId: rules.chainId, verifyingContract: target })
    if (!(await rules.isSigned(digest, signature))) throw new RelayRefusal({ code: 'invalid-signature' })
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
