import { type Hex, type Policy, parseDecimal, USDC_DECIMALS } from '../../src/client/index.js'
import { plainNumber } from '../words/number.js'

/** The rules of one employee as they are written. */
export interface RulesDraft {
  readonly address: Hex
  readonly canBuy: boolean
  readonly canSell: boolean
  readonly restricted: readonly string[]
}

/** A rulebook as it is written. */
export interface RulebookDraft {
  readonly rules: readonly RulesDraft[]
  /** USDC, as typed. */
  readonly maxOrder: string
  readonly allowWithdrawShares: boolean
}

export const EMPTY_DRAFT: RulebookDraft = { rules: [], maxOrder: '25000', allowWithdrawShares: true }

const AMOUNT = /^\d{1,15}(?:\.\d{1,6})?$/

/** The draft with a line for each of these wallets: its own if it has one, else one that allows everything. */
export function withEmployees(draft: RulebookDraft, employees: readonly Hex[]): RulebookDraft {
  const rules = employees.map(
    (address) =>
      draft.rules.find((line) => line.address === address) ?? {
        ...{ address, canBuy: true, canSell: true, restricted: [] },
      },
  )
  return { ...draft, rules }
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
