import { type CorporateAction, successorOf } from '../protocol/corporateActions.js'
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
 * The rulebook with each restriction under its symbol's name of today. The enclave goes on with a restriction under an earlier name, but a
 * form shows the listed names alone.
 */
export function underTodaysNames(policy: Policy, actions: readonly CorporateAction[]): Policy {
  const changed = new Set(actions.map(({ symbol }) => symbol))
  const today = (symbol: string) => (changed.has(symbol) ? successorOf(symbol, actions).symbol : symbol)
  const own = (rules: Rules): Rules => ({ ...rules, restricted: [...new Set(rules.restricted.map(today))] })
  const all = <R extends Rule>(rules: Readonly<Record<string, R>>, to: (rule: R) => R) =>
    Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, to(rule)]))
  const renamed = (rule: Rule): Rule => ('group' in rule ? rule : own(rule))
  const { employees, groups, default: byDefault } = policy
  return {
    ...policy,
    employees: all(employees, renamed),
    ...(groups && { groups: all(groups, own) }),
    ...(byDefault && { default: renamed(byDefault) }),
  }
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
