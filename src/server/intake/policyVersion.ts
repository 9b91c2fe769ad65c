import type { BlockTag } from 'ethers'
import type { Contracts } from '../../chain/contracts.js'
import { ZERO_ADDRESS } from '../../protocol/address.js'
import type { PolicyVersion } from '../../protocol/api.js'
import type { Hex } from '../../protocol/hex.js'

/** The version of an institution's rulebook at a block, 0 before the first. Null when the institution is not registered. */
export function createPolicyVersionView({
  registry,
  ledger,
}: Pick<Contracts, 'registry' | 'ledger'>): (orgId: Hex, block: BlockTag) => Promise<PolicyVersion | null> {
  return async (orgId, block) => {
    const [admin, version] = await Promise.all([
      registry.adminOf(orgId, block),
      ledger.policyVersion(orgId, block),
    ])
    return admin === ZERO_ADDRESS ? null : { orgId, version }
  }
}
