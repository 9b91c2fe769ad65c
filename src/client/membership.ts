import type { InterfaceAbi } from 'ethers'
import * as z from 'zod/mini'
import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { type ClientContract, createContract, type Mined } from './contract.js'
import { ClientError } from './errors.js'
import type { CallOptions } from './http.js'
import type { PlatformContracts } from './platform.js'
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
  /**
   * For the platform's owner: admits an institution, which makes its founder the admin.
   * @example await client.admitInstitution(orgId, account)
   */
  admitInstitution(orgId: Hex, founder: Hex, options?: CallOptions): Promise<Mined>
  /**
   * For the platform's owner: records that a wallet has passed KYC.
   * @example await client.verifyWallet(account)
   */
  verifyWallet(wallet: Hex, options?: CallOptions): Promise<Mined>
  /**
   * For the platform's owner: lists an equity, or delists it.
   * @example await client.setListed('AAPL', true)
   */
  setListed(symbol: string, isListed: boolean, options?: CallOptions): Promise<Mined>
  /**
   * For the platform's owner: freezes a wallet's holding of an equity, or releases it.
   * @example await client.setFrozen('AAPL', account, false)
   */
  setFrozen(symbol: string, wallet: Hex, isFrozen: boolean, options?: CallOptions): Promise<Mined>
}

/** The part of `EquityToken` that the platform's owner uses here. */
const TOKEN_ABI = [
  'function setKyc(address wallet, bool verified)',
  'function setListed(bytes32 symbol, bool listed)',
  'function setFrozen(bytes32 symbol, address wallet, bool frozen)',
  'error NotOwner(address expected, address caller)',
  'error ReservedSymbol(bytes32 symbol)',
]

export function createMembership(deps: {
  readonly wallet: Wallet
  readonly contracts: (options?: CallOptions) => Promise<Pick<PlatformContracts, 'registry' | 'token'>>
}): Membership {
  const { wallet, contracts } = deps
  const contractOf =
    (name: 'registry' | 'token', abi: InterfaceAbi) =>
    async (options: CallOptions = {}): Promise<ClientContract> =>
      createContract({ wallet: wallet.until(options.signal), address: (await contracts(options))[name], abi })
  const registryOf = contractOf('registry', institutionRegistryAbi)
  const tokenOf = contractOf('token', TOKEN_ABI)
  const sender =
    (contract: typeof registryOf) =>
    async (method: string, args: readonly unknown[], options?: CallOptions): Promise<Mined> =>
      (await contract(options)).send(method, args)
  const [send, sendToken] = [sender(registryOf), sender(tokenOf)]

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
    admitInstitution: (orgId, founder, options) => send('setAdmitted', [orgId, founder, true], options),
    verifyWallet: (member, options) => sendToken('setKyc', [member, true], options),
    setListed: async (symbol, isListed, options) =>
      sendToken('setListed', [nameOf(symbol), isListed], options),
    setFrozen: async (symbol, holder, isFrozen, options) =>
      sendToken('setFrozen', [nameOf(symbol), holder, isFrozen], options),
  }
}

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
