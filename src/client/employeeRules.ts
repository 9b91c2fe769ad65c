import { type Policy, type Rule, type Rules, rulesOf } from '../protocol/policy.js'
import type { EmployeeRow } from './employeeFile.js'

/** The rules of a wallet that neither the rulebook nor the file says anything of. */
const ALLOWED: Rules = { canBuy: true, canSell: true, restricted: [] }

/**
 * What the rows of a file make of a rulebook: the rule of each row's wallet, by lower-case address. A right or a restriction that a row
 * leaves out is that of the wallet's rule, or of the default; a wallet with neither may buy and sell.
 * @example const employees = rulesOfRows([{ address: account, canSell: false }], policy)
 */
export function rulesOfRows(
  rows: readonly EmployeeRow[],
  policy: Pick<Policy, 'employees' | 'groups' | 'default'>,
): Policy['employees'] {
  const employees: Policy['employees'] = {}
  for (const { address, name: _, ...row } of rows) {
    const wallet = address.toLowerCase()
    employees[wallet] = ruleOfRow(row, policy.employees[wallet] ?? policy.default ?? ALLOWED, policy)
  }
  return employees
}

function ruleOfRow(
  { group, ...stated }: Omit<EmployeeRow, 'address' | 'name'>,
  before: Rule,
  policy: Pick<Policy, 'groups'>,
): Rule {
  if (group !== undefined) return { group }
  if (Object.keys(stated).length === 0) return before
  const { restricted = [], ...rights } = { ...ALLOWED, ...rulesOf(policy, before), ...stated }
  return { ...rights, restricted: [...restricted] }
}

/**
 * The rulebook without the employees whose rule is the default's, which they have unlisted too: so its length, which shows, tells only
 * how many differ. A rule is the default's by its own words: one that names a group is not one that repeats the group's rules.
 * @example const { employees } = exceptionsOf(policy)
 */
export function exceptionsOf(policy: Policy): Policy {
  const { default: byDefault } = policy
  if (byDefault === undefined) return policy
  const differing = Object.entries(policy.employees).filter(([, rule]) => !isSameRule(rule, byDefault))
  return { ...policy, employees: Object.fromEntries(differing) }
}

function isSameRule(one: Rule, other: Rule): boolean {
  if ('group' in one || 'group' in other) {
    return 'group' in one && 'group' in other && one.group === other.group
  }
  const restricted = new Set(one.restricted)
  return (
    one.canBuy === other.canBuy &&
    one.canSell === other.canSell &&
    one.restricted.length === other.restricted.length &&
    other.restricted.every((symbol) => restricted.has(symbol))
  )
}
