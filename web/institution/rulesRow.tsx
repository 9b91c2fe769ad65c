import { useNames, WalletName } from '../membership/walletName.js'
import type { RulesDraft } from '../rulebooks/rulebookDraft.js'
import { shortHex } from '../words/format.js'

interface RulesRowProps {
  readonly rules: RulesDraft
  readonly symbols: readonly string[]
  /** Whether the rulebook in force is known to omit the employee. */
  readonly isUncovered: boolean
  readonly onChange: (rules: RulesDraft) => void
}

/** One employee's rights. */
export function RulesRow({ rules, symbols, isUncovered, onChange }: RulesRowProps) {
  const { address, canBuy, canSell, restricted } = rules
  const name = useNames()(address) ?? shortHex(address)
  const toggled = (symbol: string) =>
    restricted.includes(symbol) ? restricted.filter((other) => other !== symbol) : [...restricted, symbol]
  return (
    <tr>
      <th scope="row">
        <WalletName address={address} />
        {isUncovered ? (
          <span class="tag tag-bad tag-beside">not covered by the rulebook in force</span>
        ) : null}
      </th>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} may buy`}
          checked={canBuy}
          onChange={({ currentTarget: { checked } }) => onChange({ ...rules, canBuy: checked })}
        />
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} may sell`}
          checked={canSell}
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
                onChange={() => onChange({ ...rules, restricted: toggled(symbol) })}
              />
              {symbol}
            </label>
          ))}
        </div>
      </td>
    </tr>
  )
}
