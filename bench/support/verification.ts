import { verifyTypedData } from 'ethers'
import type { ContractAddresses } from '../../src/protocol/api.js'
import { authorizationDomain, type SignedAuthorization } from '../../src/protocol/authorization.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import type { Hex } from '../../src/protocol/hex.js'
import { createAuthorizationVerifier } from '../../src/server/relay/authorization.js'

/** Microseconds of CPU that one verification takes. */
export interface Verification {
  /** Ours, the calldata included. */
  readonly oursUs: number
  readonly ethersUs: number
}

export interface Verifying {
  readonly chainId: number
  readonly contracts: ContractAddresses
  readonly signer: Hex
}

const TURN_MS = 250

/** One turn of each, on the same authorizations. */
export function measureVerification(
  rules: Verifying,
  authorizations: readonly SignedAuthorization[],
): Verification {
  const { verify } = createAuthorizationVerifier(rules)
  return {
    oursUs: cpuUsOf(authorizations, verify),
    ethersUs: cpuUsOf(authorizations, (authorization) => verifyByEthers(rules, authorization)),
  }
}

function verifyByEthers(rules: Verifying, { primaryType, message, signature }: SignedAuthorization): void {
  const domain = { chainId: rules.chainId, verifyingContract: rules.contracts.confidentialLedger }
  const types = { [primaryType]: authorizationTypes[primaryType] }
  const signer = verifyTypedData(authorizationDomain(primaryType, domain), types, message, signature)
  if (signer !== rules.signer) throw new Error('the bench signed with another key')
}

/** CPU time, as the machine may do something else in between. */
function cpuUsOf<T>(values: readonly T[], action: (value: T) => unknown): number {
  const until = performance.now() + TURN_MS
  const before = process.cpuUsage()
  let count = 0
  while (performance.now() < until) {
    for (const value of values) action(value)
    count += values.length
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
