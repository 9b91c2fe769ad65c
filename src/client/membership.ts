import * as z from 'zod'
import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { type ClientContract, createContract, type Mined } from './contract.js'
import { ClientError } from './errors.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** Who belongs to which institution. What changes it is one transaction each, and throws as `ClientContract.send`. */
export interface Membership {
  /**
   * Founds an institution, whose admin the wallet becomes once the platform has admitted it. Its name is 1 to 31 printable ASCII characters.
   * @throws ClientError `invalid-name`
   */
  found(name: string): Promise<Mined>
  /** Accepts an invitation. */
  join(orgId: Hex): Promise<Mined>
  /**
   * Leaves the institution: it takes effect by itself after the deployment's number of days. Until then the wallet is
   * bound by the rulebook and buys nothing; it can't be put off or taken back.
   */
  leave(): Promise<Mined>
  /** Unix seconds at which the wallet leaves its institution, null when it does not. */
  leavingAt(): Promise<number | null>
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
  async function contract(): Promise<ClientContract> {
    const { registry } = await contracts()
    return createContract({ wallet, address: registry, abi: institutionRegistryAbi })
  }
  async function send(method: string, args: readonly unknown[]): Promise<Mined> {
    return (await contract()).send(method, args)
  }

  /** The registry keeps the time of a wallet that has left. */
  async function leavingAt(): Promise<number | null> {
    const [registry, account] = [await contract(), await wallet.account()]
    const [orgId, at] = await Promise.all([
      registry.read<Hex>('orgOf', [account], bytes32Schema),
      registry.read('leavingAt', [account], z.bigint()),
    ])
    return orgId === ZERO_BYTES32 || at === 0n ? null : Number(at)
  }

  return {
    found: async (name) => send('registerInstitution', [orgIdOf(name)]),
    join: (orgId) => send('join', [orgId]),
    leave: () => send('leaveInstitution', []),
    leavingAt,
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
