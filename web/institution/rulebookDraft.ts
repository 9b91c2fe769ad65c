import { formatDecimal, type Hex, type Policy, parseDecimal, USDC_DECIMALS } from '../../src/client/index.js'
import { plainNumber } from '../words/number.js'

/** The rulebook in force, as far as this page knows it. */
export interface RulebookInForce {
  /** 0 before the first one. */
  readonly version: number
  /** Null before the first one, and where no copy of it has been opened. */
  readonly policy: Policy | null
}

/** The rules of one employee as they are written. */
export interface RulesDraft {
  readonly address: Hex
  readonly canBuy: boolean
  readonly canSell: boolean
  readonly restricted: readonly string[]
}

/** A rulebook as it is written. */
export interface RulebookDraft {
  /** Of those whose line was changed. */
  readonly rules: readonly RulesDraft[]
  /** USDC, as typed. */
  readonly maxOrder: string
  readonly allowWithdrawShares: boolean
}

const AMOUNT = /^\d{1,15}(?:\.\d{1,6})?$/
const FIRST_MAX_ORDER = '25000'

/** Whether a rulebook is in force of which this page knows no rule. */
export function isUnknown({ version, policy }: RulebookInForce): boolean {
  return version > 0 && policy === null
}

/** Whether the rulebook in force is known not to list the wallet: the enclave refuses its orders. */
export function isUncovered({ policy }: RulebookInForce, address: Hex): boolean {
  return policy !== null && policy.employees[address.toLowerCase()] === undefined
}

/** What the form begins with: the rules in force; none that allows anything where they are unknown. */
export function beginningOf({ version, policy }: RulebookInForce): RulebookDraft {
  const known = policy === null ? '' : formatDecimal(policy.maxOrderNotional, USDC_DECIMALS)
  return {
    rules: [],
    maxOrder: version === 0 ? FIRST_MAX_ORDER : known,
    allowWithdrawShares: policy?.allowWithdrawShares ?? false,
  }
}

/**
 * The draft with a line for each of these wallets: its own if it was changed, else the one of the rulebook in force. A
 * wallet that this one does not list, or may not, begins with no right; before the first rulebook, with every one.
 */
export function withEmployees(
  draft: RulebookDraft,
  employees: readonly Hex[],
  inForce: RulebookInForce,
): RulebookDraft {
  const rules = employees.map(
    (address) => draft.rules.find((line) => line.address === address) ?? lineInForce(address, inForce),
  )
  return { ...draft, rules }
}

function lineInForce(address: Hex, { version, policy }: RulebookInForce): RulesDraft {
  const rules = policy?.employees[address.toLowerCase()]
  const isFirst = version === 0
  return { address, ...(rules ?? { canBuy: isFirst, canSell: isFirst, restricted: [] }) }
}

/** The draft with this line in place of the wallet's former one, if it had one. */
export function withRules(draft: RulebookDraft, changed: RulesDraft): RulebookDraft {
  const others = draft.rules.filter(({ address }) => address !== changed.address)
  return { ...draft, rules: [...others, changed] }
}

/** The rulebook of a draft, null while its amount is none. */
export function policyOf({ rules, maxOrder, allowWithdrawShares }: RulebookDraft): Policy | null {
  const amount = plainNumber(maxOrder)
  if (amount === null || !AMOUNT.test(amount)) return null
  return {
    employees: Object.fromEntries(
      rules.map(({ address, canBuy, canSell, restricted }) => [
        address.toLowerCase(),
        { canBuy, canSell, restricted: [...restricted] },
      ]),
    ),
    maxOrderNotional: parseDecimal(amount, USDC_DECIMALS),
    allowWithdrawShares,
  }
}
