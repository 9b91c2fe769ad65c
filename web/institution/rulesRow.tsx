import { useNames, WalletName } from '../membership/walletName.js'
import type { RulesDraft, SharedRules } from '../rulebooks/rulebookDraft.js'
import { shortHex } from '../words/format.js'
import { Rights, RuleChoice, rulesIn } from './rights.js'

interface RulesRowProps {
  readonly rules: RulesDraft
  readonly groups: SharedRules['groups']
  readonly symbols: readonly string[]
  /** Whether the rulebook in force is known to omit the employee. */
  readonly isUncovered: boolean
  readonly onChange: (rules: RulesDraft) => void
}

/** One employee's rights. */
export function RulesRow({
  rules: { address, rule },
  groups,
  symbols,
  isUncovered,
  onChange,
}: RulesRowProps) {
  const name = useNames()(address) ?? shortHex(address)
  return (
    <tr>
      <th scope="row">
        <WalletName address={address} />
        {isUncovered ? (
          <span class="tag tag-bad tag-beside">not covered by the rulebook in force</span>
        ) : null}
        <RuleChoice
          name={name}
          rule={rule}
          groups={groups}
          onChange={(chosen) => chosen && onChange({ address, rule: chosen })}
        />
      </th>
      <Rights
        name={name}
        rules={rulesIn(rule, groups)}
        symbols={symbols}
        isShared={'group' in rule}
        onChange={(own) => onChange({ address, rule: own })}
      />
    </tr>
  )
}
