import { type EmployeeRow, exceptionsOf, memberRules, rulesOfRows } from '../../src/client/admin.js'
import { formatDecimal, type Hex, type Policy, parseDecimal, USDC_DECIMALS } from '../../src/client/index.js'
import { groupNameSchema, type Rule, type Rules, rulesOf } from '../../src/protocol/policy.js'
import { plainNumber } from '../words/format.js'

/** The rulebook in force, as far as this page knows it. */
export interface RulebookInForce {
  /** 0 before the first one. */
  readonly version: number
  /** Null before the first one, or if no copy of it has been opened. */
  readonly policy: Policy | null
}

/** One employee's draft rule. */
export interface RulesDraft {
  readonly address: Hex
  readonly rule: Rule
}

/** The rules that several share. */
export interface SharedRules {
  readonly groups: Readonly<Record<string, Rules>>
  /** For every member without a line; null: they may not trade. */
  readonly byDefault: Rule | null
}

/** A draft rulebook. */
export interface RulebookDraft extends SharedRules {
  /** The changed lines. */
  readonly rules: readonly RulesDraft[]
  /** USDC, as typed. */
  readonly maxOrder: string
  readonly allowWithdrawShares: boolean
}

const AMOUNT = /^\d{1,15}(?:\.\d{1,6})?$/
const FIRST_MAX_ORDER = '25000'

/** Whether a rulebook is in force whose rules this page does not know. */
export function isUnknown({ version, policy }: RulebookInForce): boolean {
  return version > 0 && policy === null
}

/** Whether the rulebook in force is known to omit the wallet: the enclave then refuses its orders. */
export function isUncovered({ policy }: RulebookInForce, address: Hex): boolean {
  return policy !== null && memberRules(policy, address) === undefined
}

/** The form's initial content: the rules in force, or no rights if they are unknown. */
export function beginningOf({ version, policy }: RulebookInForce): RulebookDraft {
  const known = policy === null ? '' : formatDecimal(policy.maxOrderNotional, USDC_DECIMALS)
  return {
    rules: [],
    groups: policy?.groups ?? {},
    byDefault: policy?.default ?? null,
    maxOrder: version === 0 ? FIRST_MAX_ORDER : known,
    allowWithdrawShares: policy?.allowWithdrawShares ?? false,
  }
}

export const BARRED: Rules = { canBuy: false, canSell: false, restricted: [] }
const ALLOWED: Rules = { canBuy: true, canSell: true, restricted: [] }

/**
 * The draft with a line for each of these wallets: its changed line, else its line in force, else the default. Without one, a wallet that
 * is or may be unlisted starts without rights; before the first rulebook, with all rights.
 */
export function withEmployees(
  draft: RulebookDraft,
  employees: readonly Hex[],
  inForce: RulebookInForce,
): RulebookDraft {
  const changed = new Map(draft.rules.map((line) => [line.address, line]))
  const unlisted = draft.byDefault ?? (inForce.version === 0 ? ALLOWED : BARRED)
  const rules = employees.map(
    (address) => changed.get(address) ?? { address, rule: ruleInForce(draft, address, inForce) ?? unlisted },
  )
  return { ...draft, rules }
}

/** That of a group that the draft has no longer is the group's. */
function ruleInForce({ groups }: SharedRules, address: Hex, { policy }: RulebookInForce): Rule | undefined {
  const rule = policy?.employees[address.toLowerCase()]
  const isGone = rule !== undefined && 'group' in rule && !Object.hasOwn(groups, rule.group)
  return isGone && policy ? rulesOf(policy, rule) : rule
}

/** The draft with this line replacing the wallet's previous one, if any. */
export function withRules(draft: RulebookDraft, changed: RulesDraft): RulebookDraft {
  const others = draft.rules.filter(({ address }) => address !== changed.address)
  return { ...draft, rules: [...others, changed] }
}

/** The draft without a group: everyone of it has the same rules as their own. */
export function withoutGroup(draft: RulebookDraft, name: string): RulebookDraft {
  const { [name]: own = BARRED, ...groups } = draft.groups
  const freed = (rule: Rule): Rule => ('group' in rule && rule.group === name ? own : rule)
  return {
    ...draft,
    groups,
    byDefault: draft.byDefault && freed(draft.byDefault),
    rules: draft.rules.map(({ address, rule }) => ({ address, rule: freed(rule) })),
  }
}

/** Why a group cannot have the name; null if it can. */
export function groupNameFault(name: string, { groups }: SharedRules): string | null {
  if (Object.hasOwn(groups, name)) return 'There is a group of this name.'
  if (groupNameSchema.safeParse(name).success) return null
  return 'Enter 1 to 32 letters and digits, with spaces and . _ & / - between them.'
}

/**
 * The draft with the lines of a file. What a row leaves out stays as it is; a wallet without a line or a default may buy and sell unless
 * its row says otherwise.
 */
export function withImported(
  draft: RulebookDraft,
  rows: readonly EmployeeRow[],
  inForce: RulebookInForce,
): RulebookDraft {
  const lines = new Map(draft.rules.map((line) => [line.address, line]))
  const known = rows.flatMap(({ address }) => {
    const rule = lines.get(address)?.rule ?? ruleInForce(draft, address, inForce)
    return rule === undefined ? [] : [[address.toLowerCase(), rule] as const]
  })
  const { groups, byDefault } = draft
  const before = { employees: Object.fromEntries(known), groups, ...(byDefault && { default: byDefault }) }
  const rules = rulesOfRows(rows, before)
  for (const { address } of rows) {
    const rule = rules[address.toLowerCase()]
    if (rule !== undefined) lines.set(address, { address, rule })
  }
  return { ...draft, rules: [...lines.values()] }
}

/** The largest order of a draft, in USDC base units; null while it is not an amount. */
export function maxOrderOf({ maxOrder }: Pick<RulebookDraft, 'maxOrder'>): bigint | null {
  const amount = plainNumber(maxOrder)
  return amount !== null && AMOUNT.test(amount) ? parseDecimal(amount, USDC_DECIMALS) : null
}

/**
 * The rulebook of a draft, without the lines that say what the default says.
 * @param maxOrderNotional USDC base units
 * @param symbols the listed ones: the enclave refuses a rulebook that restricts another
 */
export function policyOf(
  { rules, groups, byDefault, allowWithdrawShares }: Omit<RulebookDraft, 'maxOrder'>,
  maxOrderNotional: bigint,
  symbols: readonly string[],
): Policy {
  const listed = new Set(symbols)
  const ownOf = ({ canBuy, canSell, restricted }: Rules) => ({
    ...{ canBuy, canSell },
    restricted: restricted.filter((symbol) => listed.has(symbol)),
  })
  const ruleOf = (rule: Rule) => ('group' in rule ? rule : ownOf(rule))
  const named = Object.entries(groups).map(([name, shared]) => [name, ownOf(shared)] as const)
  return exceptionsOf({
    employees: Object.fromEntries(rules.map(({ address, rule }) => [address.toLowerCase(), ruleOf(rule)])),
    ...(named.length > 0 && { groups: Object.fromEntries(named) }),
    ...(byDefault && { default: ruleOf(byDefault) }),
    maxOrderNotional,
    allowWithdrawShares,
  })
}
