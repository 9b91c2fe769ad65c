import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import type { Hex } from './hex.js'
import { symbolSchema } from './identifiers.js'
import { textHash } from './keccak.js'
import { uint256Schema } from './units.js'

const rulesSchema = z.strictObject({
  canBuy: z.boolean(),
  canSell: z.boolean(),
  /** Symbols that this employee may not trade. */
  restricted: z.array(symbolSchema).check(
    z.maxLength(500),
    z.refine((symbols) => new Set(symbols).size === symbols.length, 'a symbol is listed twice'),
  ),
})
export type Rules = z.output<typeof rulesSchema>

/** ASCII, as all text in a rulebook: any RFC 8785 encoder then gives the same hash. */
export const groupNameSchema = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9](?:[A-Za-z0-9 ._&/-]{0,30}[A-Za-z0-9])?$/, 'expected a name of 1 to 32 letters'),
  )

/** Rules of its own, or those of a group. */
const ruleSchema = z.union([rulesSchema, z.strictObject({ group: groupNameSchema })])
export type Rule = z.output<typeof ruleSchema>

/** An institution's rulebook. Keys of `employees` are lower-case addresses. */
const policyShape = z.strictObject({
  employees: z.record(
    z.string().check(z.regex(/^0x[0-9a-f]{40}$/, 'expected a lower-case address')),
    ruleSchema,
  ),
  /** Rules that several employees share, by name. */
  groups: z.exactOptional(
    z
      .record(groupNameSchema, rulesSchema)
      .check(z.refine((groups) => Object.keys(groups).length > 0, 'expected a group')),
  ),
  /** For every member of the institution whom `employees` does not list. Absent: they may not trade. */
  default: z.exactOptional(ruleSchema),
  /** USDC base units. */
  maxOrderNotional: uint256Schema,
  allowWithdrawShares: z.boolean(),
})
export type Policy = z.output<typeof policyShape>

export const policySchema = policyShape.check(
  z.refine(
    ({ employees, groups = {}, default: byDefault }) =>
      [...Object.values(employees), byDefault].every(
        (rule) => rule === undefined || !('group' in rule) || Object.hasOwn(groups, rule.group),
      ),
    'a group is not in the rulebook',
  ),
)

/** What a rule comes to. */
export function rulesOf({ groups }: Pick<Policy, 'groups'>, rule: Rule): Rules | undefined {
  return 'group' in rule ? groups?.[rule.group] : rule
}

/** All rules that a rulebook states: those of groups once. */
export function allRules({ employees, groups = {}, default: byDefault }: Policy): Rules[] {
  const rules = [...Object.values(employees), ...Object.values(groups), ...(byDefault ? [byDefault] : [])]
  return rules.flatMap((rule) => ('group' in rule ? [] : [rule]))
}

/**
 * The rules of a member of the institution; undefined for one who may not trade, unlisted and without a default.
 * @example if (memberRules(policy, account)?.canBuy) console.log('may buy')
 */
export function memberRules(policy: Policy, wallet: string): Rules | undefined {
  const rule = policy.employees[wallet.toLowerCase()] ?? policy.default
  return rule && rulesOf(policy, rule)
}

/** Employees of one piece: of so many, canonical JSON takes less than a millisecond. */
const AT_ONCE = 256
const NOBODY = '"employees":{}'

/** RFC 8785 canonical JSON of the policy, in pieces: a page hashes a long one between its frames. */
export function* canonicalPieces(policy: Policy): Generator<string, void, undefined> {
  const frame = canonicalize(z.encode(policySchema, { ...policy, employees: {} })) ?? ''
  const at = frame.indexOf(NOBODY) + NOBODY.length - 1
  yield frame.slice(0, at)
  const wallets = Object.keys(policy.employees).sort()
  for (let from = 0; from < wallets.length; from += AT_ONCE) {
    const some = wallets.slice(from, from + AT_ONCE).map((wallet) => [wallet, policy.employees[wallet]])
    const piece = canonicalize(Object.fromEntries(some)) ?? ''
    yield `${from > 0 ? ',' : ''}${piece.slice(1, -1)}`
  }
  yield frame.slice(at)
}

/** `keccak256(utf8(RFC 8785 canonical JSON of the policy))`. */
export function policyHash(policy: Policy): Hex {
  return textHash([...canonicalPieces(policy)].join(''))
}
