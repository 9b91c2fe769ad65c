import type { Rule, Rules } from '../../src/protocol/policy.js'
import { BARRED, type SharedRules } from '../rulebooks/rulebookDraft.js'

interface RightsProps {
  /** Whose they are, in the labels. */
  readonly name: string
  readonly rules: Rules
  readonly symbols: readonly string[]
  /** Whether they are another's: those of a group. */
  readonly isShared?: boolean
  readonly onChange: (rules: Rules) => void
}

/** The cells of a row of rules. */
export function Rights({ name, rules, symbols, isShared = false, onChange }: RightsProps) {
  const { canBuy, canSell, restricted } = rules
  const toggled = (symbol: string) =>
    restricted.includes(symbol) ? restricted.filter((other) => other !== symbol) : [...restricted, symbol]
  return (
    <>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} may buy`}
          checked={canBuy}
          disabled={isShared}
          onChange={({ currentTarget: { checked } }) => onChange({ ...rules, canBuy: checked })}
        />
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} may sell`}
          checked={canSell}
          disabled={isShared}
          onChange={({ currentTarget: { checked } }) => onChange({ ...rules, canSell: checked })}
        />
      </td>
      <td>
        <span class="narrow-only muted" aria-hidden="true">
          May trade
        </span>
        <div class="row">
          {symbols.map((symbol) => (
            <label key={symbol} class="check">
              <input
                type="checkbox"
                aria-label={`${name} may trade ${symbol}`}
                checked={!restricted.includes(symbol)}
                disabled={isShared}
                onChange={() => onChange({ ...rules, restricted: toggled(symbol) })}
              />
              {symbol}
            </label>
          ))}
        </div>
      </td>
    </>
  )
}

/** The values of the choice beside groups, whose names have no colon. */
const [OWN, NONE] = [':own', ':none']

interface RuleChoiceProps {
  readonly name: string
  /** Null where there may be none, and is none. */
  readonly rule: Rule | null
  readonly groups: SharedRules['groups']
  readonly mayBeNone?: boolean
  readonly onChange: (rule: Rule | null) => void
}

/** Whether someone has rules of their own or those of a group. The same rules become their own. */
export function RuleChoice({ name, rule, groups, mayBeNone = false, onChange }: RuleChoiceProps) {
  const names = Object.keys(groups)
  if (names.length === 0 && !mayBeNone) return null
  const chosen = (value: string): Rule | null => {
    if (value === NONE) return null
    return value === OWN ? rulesIn(rule, groups) : { group: value }
  }
  return (
    <select
      aria-label={`Rules of ${name}`}
      value={rule === null ? NONE : 'group' in rule ? rule.group : OWN}
      onChange={({ currentTarget: { value } }) => onChange(chosen(value))}
    >
      {mayBeNone ? <option value={NONE}>may not trade</option> : null}
      <option value={OWN}>own rules</option>
      {names.map((group) => (
        <option key={group} value={group}>
          {group}
        </option>
      ))}
    </select>
  )
}

/** What a rule comes to in a draft. */
export function rulesIn(rule: Rule | null, groups: SharedRules['groups']): Rules {
  if (rule === null) return BARRED
  return 'group' in rule ? (groups[rule.group] ?? BARRED) : rule
}

/** The head of a table of rules. */
export function RulesHead({ what }: { what: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{what}</th>
        <th scope="col">Buys</th>
        <th scope="col">Sells</th>
        <th scope="col" class="wide-only">
          May trade
        </th>
      </tr>
    </thead>
  )
}
