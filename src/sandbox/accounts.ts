import type { Hex } from '../protocol/hex.js'
import type { Anvil } from './anvil.js'

/** An account of the local chain. Its key is published with the chain and worth nothing elsewhere. */
export interface SandboxAccount {
  address: Hex
  privateKey: Hex
}

/** Who is who among the local chain's funded accounts. */
export interface SandboxAccounts {
  deployer: SandboxAccount
  owner: SandboxAccount
  admin: SandboxAccount
  employees: readonly [SandboxAccount, SandboxAccount, SandboxAccount]
  /** In no institution and without KYC, but with USDC. */
  newcomer: SandboxAccount
  relayer: SandboxAccount
  brokerFunding: SandboxAccount
  /** Can pause the platform. */
  guardian: SandboxAccount
}

export function castAccounts({ accounts }: Pick<Anvil, 'accounts'>): SandboxAccounts {
  const [deployer, owner, admin, first, second, third, relayer, brokerFunding, newcomer, guardian] = accounts
  if (
    !deployer ||
    !owner ||
    !admin ||
    !first ||
    !second ||
    !third ||
    !relayer ||
    !brokerFunding ||
    !newcomer ||
    !guardian
  ) {
    throw new Error('the local chain has too few accounts')
  }
  return {
    deployer,
    owner,
    admin,
    employees: [first, second, third],
    newcomer,
    relayer,
    brokerFunding,
    guardian,
  }
}
