import * as z from 'zod/mini'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { createContract, type Mined } from './contract.js'
import { ClientError } from './errors.js'
import type { CallOptions } from './http.js'
import type { PlatformContracts } from './platform.js'
import { REGISTRY_ABI } from './registryAbi.js'
import type { Wallet } from './wallet.js'

/** Membership of institutions. Each change is one transaction, and throws as `ClientContract.send` does. */
export interface Membership {
  /**
   * Founds an institution. The wallet becomes its admin once the platform admits it. The name has 1 to 31 printable
   * ASCII characters.
   * @throws ClientError `invalid-name`
   * @example const { txHash } = await client.foundInstitution('Harbour Capital')
   */
  foundInstitution(name: string, options?: CallOptions): Promise<Mined>
  /**
   * Accepts an invitation.
   * @example await client.joinInstitution(orgId)
   */
  joinInstitution(orgId: Hex, options?: CallOptions): Promise<Mined>
  /**
   * Leaves the institution, effective after the deployment's leave delay. Until then the rulebook binds the wallet, and
   * the wallet cannot buy. Leaving cannot be postponed or revoked.
   * @example await client.leaveInstitution()
   */
  leaveInstitution(options?: CallOptions): Promise<Mined>
  /**
   * Unix seconds at which the wallet's departure takes effect; null if it is not leaving.
   * @example const leavingAt = await client.getLeavingAt()
   */
  getLeavingAt(options?: CallOptions): Promise<number | null>
  /**
   * For an admin: invites a wallet, which becomes a member when it joins.
   * @example await client.inviteMember(account)
   */
  inviteMember(wallet: Hex, options?: CallOptions): Promise<Mined>
  /**
   * For an admin: removes a member, or withdraws an invitation.
   * @example await client.removeMember(account)
   */
  removeMember(wallet: Hex, options?: CallOptions): Promise<Mined>
}

export function createMembership(deps: {
  readonly wallet: Wallet
  readonly contracts: (options?: CallOptions) => Promise<Pick<PlatformContracts, 'registry'>>
}): Membership {
  const { wallet, contracts } = deps
  const registryOf = async (options: CallOptions = {}) =>
    createContract({
      wallet: wallet.until(options.signal),
      address: (await contracts(options)).registry,
      abi: REGISTRY_ABI,
    })
  const send = async (method: string, args: readonly unknown[], options?: CallOptions) =>
    (await registryOf(options)).send(method, args)

  /** The registry keeps the time after departure, so a wallet without an institution counts as not leaving. */
  async function getLeavingAt(options?: CallOptions): Promise<number | null> {
    const [registry, account] = [await registryOf(options), await wallet.account()]
    const [orgId, at] = await Promise.all([
      registry.read<Hex>('orgOf', [account], bytes32Schema),
      registry.read('leavingAt', [account], z.bigint()),
    ])
    return orgId === ZERO_BYTES32 || at === 0n ? null : Number(at)
  }

  return {
    foundInstitution: async (name, options) => send('registerInstitution', [nameOf(name)], options),
    joinInstitution: (orgId, options) => send('join', [orgId], options),
    leaveInstitution: (options) => send('leaveInstitution', [], options),
    getLeavingAt,
    inviteMember: (member, options) => send('setMember', [member, true], options),
    removeMember: (member, options) => send('setMember', [member, false], options),
  }
}

/** The `bytes32` of an institution's name. @throws ClientError `invalid-name` */
function nameOf(name: string): Hex {
  try {
    return nameToBytes32(name)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new ClientError(
      'invalid-name',
      'A name has 1 to 31 printable ASCII characters and neither starts nor ends with a space.',
      { cause: error },
    )
  }
}
