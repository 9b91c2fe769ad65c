import {
  type EmployeeRow,
  formatDecimal,
  type Hex,
  memberRules,
  type Policy,
  parseDecimal,
  USDC_DECIMALS,
} from '../../src/client/index.js'
import { plainNumber } from '../words/format.js'

/** The rulebook in force, as far as this page knows it. */
export interface RulebookInForce {
  /** 0 before the first one. */
  readonly version: number
  /** Null before the first one, or if no copy of it has been opened. */
  readonly policy: Policy | null
}

/** One employee's draft rules. */
export interface RulesDraft {
  readonly address: Hex
  readonly canBuy: boolean
  readonly canSell: boolean
  readonly restricted: readonly string[]
}

/** A draft rulebook. */
export interface RulebookDraft {
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
    maxOrder: version === 0 ? FIRST_MAX_ORDER : known,
    allowWithdrawShares: policy?.allowWithdrawShares ?? false,
  }
}

/**
 * The draft with a line for each of these wallets: its changed line, else its line in force. A wallet that is or may be
 * unlisted starts without rights; before the first rulebook, with all rights.
 */
export function withEmployees(
  draft: RulebookDraft,
  employees: readonly Hex[],
  inForce: RulebookInForce,
): RulebookDraft {
  const changed = new Map(draft.rules.map((line) => [line.address, line]))
  const rules = employees.map((address) => changed.get(address) ?? lineInForce(address, inForce))
  return { ...draft, rules }
}

function lineInForce(address: Hex, { version, policy }: RulebookInForce): RulesDraft {
  const rules = policy && memberRules(policy, address)
  const isFirst = version === 0
  return { address, ...(rules ?? { canBuy: isFirst, canSell: isFirst, restricted: [] }) }
}

/** The draft with this line replacing the wallet's previous one, if any. */
export function withRules(draft: RulebookDraft, changed: RulesDraft): RulebookDraft {
  const others = draft.rules.filter(({ address }) => address !== changed.address)
  return { ...draft, rules: [...others, changed] }
}

/**
 * The draft with the lines of a file. What a row leaves out stays as it is; a wallet without a line may buy and sell
 * unless its row says otherwise.
 */
export function withImported(
  draft: RulebookDraft,
  rows: readonly EmployeeRow[],
  inForce: RulebookInForce,
): RulebookDraft {
  const lines = new Map(draft.rules.map((line) => [line.address, line]))
  for (const { address, canBuy, canSell, restricted } of rows) {
    const isCovered = inForce.policy !== null && !isUncovered(inForce, address)
    const before = lines.get(address) ?? (isCovered ? lineInForce(address, inForce) : allowed(address))
    lines.set(address, {
      address,
      canBuy: canBuy ?? before.canBuy,
      canSell: canSell ?? before.canSell,
      restricted: restricted ?? before.restricted,
    })
  }
  return { ...draft, rules: [...lines.values()] }
}

const allowed = (address: Hex): RulesDraft => ({ address, canBuy: true, canSell: true, restricted: [] })

/**
 * The rulebook of a draft; null while its amount is invalid.
 * @param symbols the listed ones: the enclave refuses a rulebook that restricts another
 */
export function policyOf(
  { rules, maxOrder, allowWithdrawShares }: RulebookDraft,
  symbols: readonly string[],
): Policy | null {
  const amount = plainNumber(maxOrder)
  if (amount === null || !AMOUNT.test(amount)) return null
  return {
    employees: Object.fromEntries(
      rules.map(({ address, canBuy, canSell, restricted }) => [
        address.toLowerCase(),
        { canBuy, canSell, restricted: restricted.filter((symbol) => symbols.includes(symbol)) },
      ]),
    ),
    maxOrderNotional: parseDecimal(amount, USDC_DECIMALS),
    allowWithdrawShares,
  }
}
