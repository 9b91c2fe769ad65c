import type { Hex } from '../protocol/hex.js'
import type { Anvil } from './anvil.js'

/** An account of the local chain. Its key is public and must not hold value on any other chain. */
export interface SandboxAccount {
  address: Hex
  privateKey: Hex
}

/** The names of the sandbox's people in README, page and terminal. */
export const PEOPLE = {
  employees: ['Ada', 'Ben', 'Cleo'],
  admin: 'Dana',
  newcomer: 'Noor',
  owner: 'Otto',
} as const

/** The roles of the local chain's funded accounts. */
export type SandboxAccounts = ReturnType<typeof castAccounts>

export function castAccounts({ accounts }: Pick<Anvil, 'accounts'>) {
  const cast = (index: number): SandboxAccount => {
    const account = accounts[index]
    if (account === undefined) throw new Error('the local chain has too few accounts')
    return account
  }
  return {
    deployer: cast(0),
    owner: cast(1),
    admin: cast(2),
    employees: [cast(3), cast(4), cast(5)] as const,
    relayer: cast(6),
    brokerFunding: cast(7),
    /** Belongs to no institution and has no KYC, but has USDC. */
    newcomer: cast(8),
    /** Can pause the platform. */
    guardian: cast(9),
  }
}
