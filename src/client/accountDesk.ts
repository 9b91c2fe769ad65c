// What an account has and does besides trading: its membership, shares and claims, a lost wallet, seals for its device. It is loaded with the
// first of these calls.
import { retiredSymbols } from '../protocol/corporateActions.js'
import { type Claim, type ClaimOptions, type ClaimsOptions, createClaimDesk } from './claims.js'
import type { ClientParts } from './clientParts.js'
import type { Mined } from './contract.js'
import { createDeviceSeal } from './deviceSeal.js'
import type { CallOptions } from './http.js'
import type { Keyring } from './keyring.js'
import { createMembership } from './membership.js'
import { createMoves } from './moves.js'
import type { PlatformContracts } from './platform.js'
import { readShares, type SharesOptions, type WalletShares } from './shares.js'
import type { Wallet } from './wallet.js'

interface ChainParts {
  readonly wallet: Wallet
  readonly contracts: PlatformContracts
}

interface AccountDeskDeps extends Pick<ClientParts, 'within' | 'contracts' | 'actionList'> {
  /** The client's own: they end with no call. */
  readonly wallet: Wallet
  readonly keys: Keyring
}

/** Methods of a client, by their names there. */
export function createAccountDesk({ wallet, keys, within, contracts, actionList }: AccountDeskDeps) {
  const parts = async (call?: CallOptions) => ({ ...within(call), contracts: await contracts(call) })
  /** The symbols that the caller names, and those that have changed or were removed: shares and claims may be under each. */
  async function others({ wallet, contracts: { actions } }: ChainParts, call?: SharesOptions) {
    const list = await actionList(wallet, actions, await wallet.reads.blockNumber())
    return { others: [...(call?.others ?? []), ...retiredSymbols(list)] }
  }
  async function deviceSeal(purpose: string, call?: CallOptions) {
    const { wallet, keys, contracts } = await parts(call)
    const [account, chainId] = await Promise.all([wallet.account(), wallet.chainId()])
    return createDeviceSeal({ purpose, place: { chainId, ledger: contracts.ledger, account }, keys })
  }
  return {
    ...createMembership({ wallet, contracts }),
    ...createMoves({ wallet, keys, contracts }),
    async getShares(call?: SharesOptions): Promise<readonly WalletShares[]> {
      const found = await parts(call)
      return readShares(found.wallet, found.contracts.token, await others(found, call))
    },
    async getClaims(call?: ClaimsOptions): Promise<readonly Claim[]> {
      const found = await parts(call)
      return createClaimDesk(found).claims(await others(found, call))
    },
    claim: async (asset: string, call?: ClaimOptions): Promise<Mined> =>
      createClaimDesk(await parts(call)).claim(asset, call),
    sealForDevice: async (purpose: string, value: unknown, call?: CallOptions): Promise<Uint8Array> =>
      (await deviceSeal(purpose, call)).seal(value),
    openFromDevice: async (purpose: string, bytes: Uint8Array, call?: CallOptions): Promise<unknown> =>
      (await deviceSeal(purpose, call)).open(bytes),
  }
}
