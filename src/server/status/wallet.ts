import type { Contracts } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import type { WalletView } from '../../protocol/api.js'
import { type Hex, ZERO_BYTES32 } from '../../protocol/hex.js'
import { createRecentMap } from '../recentMap.js'

/** Wallets whose institution is remembered, to ask of it in the same request as of the wallet. */
const MAX_REMEMBERED = 10_000

/**
 * Which screen a wallet sees. A member's first answer takes two requests to the node, as its institution is not known
 * before; later ones take one.
 */
export function createWalletView(
  contracts: Pick<Contracts, 'registry' | 'token' | 'ledger'>,
): (wallet: Hex) => Promise<WalletView> {
  const { registry, token, ledger } = contracts
  const remembered = createRecentMap<Hex, Hex>(MAX_REMEMBERED)

  async function readInstitution(orgId: Hex) {
    const [admin, rulesVersion] = await Promise.all([registry.adminOf(orgId), ledger.policyVersion(orgId)])
    return { admin, rulesVersion }
  }

  return async (wallet) => {
    const expected = remembered.get(wallet)
    const [orgId, invitedBy, kyc, early] = await Promise.all([
      registry.orgOf(wallet),
      registry.invitationOf(wallet),
      token.isKyc(wallet),
      expected === undefined ? undefined : readInstitution(expected),
    ])
    if (orgId === ZERO_BYTES32) return outside(wallet, invitedBy)
    const institution = early !== undefined && orgId === expected ? early : await readInstitution(orgId)
    remembered.set(wallet, orgId)
    return inside(wallet, orgId, { kyc, ...institution })
  }
}

function outside(address: Hex, invitedBy: Hex): WalletView {
  return {
    address,
    screen: 'found',
    orgId: null,
    role: null,
    waitingFor: [],
    invitedBy: invitedBy === ZERO_BYTES32 ? null : invitedBy,
  }
}

/** An admin trades as an employee does, and waits for the same. */
function inside(
  address: Hex,
  orgId: Hex,
  facts: { readonly kyc: boolean; readonly admin: Hex; readonly rulesVersion: number },
): WalletView {
  const waitingFor: WalletView['waitingFor'] = []
  if (!facts.kyc) waitingFor.push('kyc')
  if (facts.rulesVersion === 0) waitingFor.push('policy')
  return {
    address,
    screen: waitingFor.length === 0 ? 'trade' : 'wait',
    orgId,
    role: sameAddress(facts.admin, address) ? 'admin' : 'employee',
    waitingFor,
    // One that is in an institution can join no other.
    invitedBy: null,
  }
}
