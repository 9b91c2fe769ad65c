import type { Anvil } from './anvil.js'

/** An account of the local chain. Its key is public and must not hold value on any other chain. */
export type SandboxAccount = Anvil['accounts'][number]

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

/** The sandbox's people, as README, page and terminal name them. */
export function peopleOf(accounts: Pick<SandboxAccounts, 'owner' | 'admin' | 'employees' | 'newcomer'>) {
  const [ada, ben, cleo] = accounts.employees
  return [
    { name: 'Ada', part: 'employee', ...ada },
    { name: 'Ben', part: 'employee', ...ben },
    { name: 'Cleo', part: 'employee', ...cleo },
    { name: 'Dana', part: 'admin of the institution', ...accounts.admin },
    { name: 'Noor', part: 'newcomer, in no institution', ...accounts.newcomer },
    { name: 'Otto', part: 'operator, owner of the contracts', ...accounts.owner },
  ]
}
