import type { Hex } from '../protocol/hex.js'
import type { Anvil } from './anvil.js'

/** An account of the local chain. Its key is public and must not hold value on any other chain. */
export interface SandboxAccount {
  address: Hex
  privateKey: Hex
}

/** The roles of the local chain's funded accounts. */
export interface SandboxAccounts {
  deployer: SandboxAccount
  owner: SandboxAccount
  admin: SandboxAccount
  employees: readonly [SandboxAccount, SandboxAccount, SandboxAccount]
  /** Belongs to no institution and has no KYC, but has USDC. */
  newcomer: SandboxAccount
  relayer: SandboxAccount
  brokerFunding: SandboxAccount
  /** Can pause the platform. */
  guardian: SandboxAccount
}

/** The names of the sandbox's people in README, page and terminal. */
export const PEOPLE = {
  employees: ['Ada', 'Ben', 'Cleo'],
  admin: 'Dana',
  newcomer: 'Noor',
  owner: 'Otto',
} as const

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
