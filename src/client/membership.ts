import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { ProtocolError } from '../protocol/errors.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { createContract, type Mined } from './contract.js'
import { ClientError } from './errors.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** Who belongs to which institution. Its methods send one transaction each and throw as `ClientContract.send`. */
export interface Membership {
  /**
   * Founds an institution, whose admin the wallet becomes. Its name is 1 to 31 printable ASCII characters.
   * @throws ClientError `invalid-name`
   */
  found(name: string): Promise<Mined>
  /** Accepts an invitation. */
  join(orgId: Hex): Promise<Mined>
  /** As the admin: invites a wallet, which is no member before it joins. */
  invite(wallet: Hex): Promise<Mined>
  /** As the admin: removes a member, or takes an invitation back. */
  remove(wallet: Hex): Promise<Mined>
}

interface MembershipDeps {
  readonly wallet: Wallet
  readonly contracts: () => Promise<Pick<PlatformContracts, 'registry'>>
}

export function createMembership({ wallet, contracts }: MembershipDeps): Membership {
  async function send(method: string, args: readonly unknown[]): Promise<Mined> {
    const { registry } = await contracts()
    return createContract({ wallet, address: registry, abi: institutionRegistryAbi }).send(method, args)
  }
  return {
    found: async (name) => send('registerInstitution', [orgIdOf(name)]),
    join: (orgId) => send('join', [orgId]),
    invite: (member) => send('setMember', [member, true]),
    remove: (member) => send('setMember', [member, false]),
  }
}

function orgIdOf(name: string): Hex {
  try {
    return nameToBytes32(name)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new ClientError(
      'invalid-name',
      'A name has 1 to 31 letters, digits and signs of ASCII, and no space at an end.',
      { cause: error },
    )
  }
}
