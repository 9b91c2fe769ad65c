import { encodeAuthorizationCall, targetOf } from '../../chain/authorizationCall.js'
import type { ContractAddresses } from '../../protocol/api.js'
import { authorizationDigest, type SignedAuthorization } from '../../protocol/authorization.js'
import type { PrimaryType } from '../../protocol/authorizationTypes.js'
import { ProtocolError } from '../../protocol/errors.js'
import type { Hex } from '../../protocol/hex.js'
import { assertSignedBy } from '../../protocol/signature.js'
import { Problem } from '../http/problems.js'

/** Whose authorizations are relayed, and where to. */
export interface AuthorizationRules {
  readonly chainId: number
  readonly contracts: ContractAddresses
  /** The enclave's signing identity. */
  readonly signer: Hex
}

/** An authorization that the enclave signed, as the call that takes it to the chain. */
export interface VerifiedAuthorization {
  /** The EIP-712 digest, by which it is known everywhere. */
  readonly digest: Hex
  readonly primaryType: PrimaryType
  readonly target: Hex
  readonly data: Hex
}

/**
 * Checks the signature without asking anybody. The digest is computed for our chain and our contract, so a
 * signature for any other recovers to some other signer.
 *
 * @throws Problem `invalid-signature`
 */
export function verifyAuthorization(
  authorization: SignedAuthorization,
  rules: AuthorizationRules,
): VerifiedAuthorization {
  const { primaryType, signature } = authorization
  const target = targetOf(primaryType, rules.contracts)
  const digest = authorizationDigest(authorization, { chainId: rules.chainId, verifyingContract: target })
  try {
    assertSignedBy(rules.signer, digest, signature)
  } catch (error) {
    if (error instanceof ProtocolError) throw new Problem('invalid-signature', { cause: error })
    throw error
  }
  return { digest, primaryType, target, data: encodeAuthorizationCall(authorization) }
}
