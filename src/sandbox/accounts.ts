import type { Anvil } from './anvil.js'

/** An account of the local chain. Its key is public and must not hold value on any other chain. */
export type SandboxAccount = Anvil['accounts'][number]

/** The roles of the local chain's funded accounts. */
export type SandboxAccounts = ReturnType<typeof castAccounts>

export function castAccounts({ accounts }: Pick<Anvil, 'accounts'>) {
  const [deployer, owner, admin, ada, ben, cleo, relayer, brokerFunding, newcomer, guardian] = accounts
  return {
    ...{ deployer, owner, admin, relayer, brokerFunding },
    employees: [ada, ben, cleo] as const,
    /** Belongs to no institution and has no KYC, but has USDC. */
    newcomer,
    /** Can pause the platform. */
    guardian,
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
