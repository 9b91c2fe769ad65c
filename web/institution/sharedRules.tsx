import { useState } from 'preact/hooks'
import { Field, hintId } from '../parts/field.js'
import { BARRED, groupNameFault, type RulebookDraft, withoutGroup } from '../rulebooks/rulebookDraft.js'
import { Rights, RuleChoice, RulesHead, rulesIn } from './rights.js'

interface SharedRulesProps {
  readonly draft: RulebookDraft
  readonly symbols: readonly string[]
  readonly onEdit: (to: (before: RulebookDraft) => RulebookDraft) => void
}

/** The default, and the groups: rules that several employees share. */
export function SharedRulesBox({ draft, symbols, onEdit }: SharedRulesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="import" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>Groups, and members who are not listed</summary>
      {isOpen ? <SharedRulesTable draft={draft} symbols={symbols} onEdit={onEdit} /> : null}
    </details>
  )
}

function SharedRulesTable({ draft, symbols, onEdit }: SharedRulesProps) {
  const { groups, byDefault } = draft
  return (
    <>
      <p class="muted">
        A member with the rules of the first row is not listed in the rulebook, so its size, which everyone
        can see, tells only how many differ.
      </p>
      <div class="scroll">
        <table class="rules">
          <RulesHead what="Shared rules" />
          <tbody>
            <tr>
              <th scope="row">
                Members not listed
                <RuleChoice
                  name="members not listed"
                  rule={byDefault}
                  groups={groups}
                  mayBeNone
                  onChange={(rule) => onEdit((before) => ({ ...before, byDefault: rule }))}
                />
              </th>
              <Rights
                name="Members not listed"
                rules={rulesIn(byDefault, groups)}
                symbols={symbols}
                isShared={byDefault === null || 'group' in byDefault}
                onChange={(own) => onEdit((before) => ({ ...before, byDefault: own }))}
              />
            </tr>
            {Object.entries(groups).map(([name, rules]) => (
              <tr key={name}>
                <th scope="row">
                  {name}{' '}
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => onEdit((before) => withoutGroup(before, name))}
                  >
                    Remove<span class="visually-hidden"> the group {name}</span>
                  </button>
                </th>
                <Rights
                  name={name}
                  rules={rules}
                  symbols={symbols}
                  onChange={(own) =>
                    onEdit((before) => ({ ...before, groups: { ...before.groups, [name]: own } }))
                  }
                />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <NewGroup draft={draft} onEdit={onEdit} />
    </>
  )
}

function NewGroup({ draft, onEdit }: Omit<SharedRulesProps, 'symbols'>) {
  const [name, setName] = useState('')
  const fault = name === '' ? null : groupNameFault(name, draft)
  const add = () => {
    if (name === '' || fault !== null) return
    onEdit((before) => ({ ...before, groups: { ...before.groups, [name]: BARRED } }))
    setName('')
  }
  return (
    <Field
      label="New group"
      id="new-group"
      hint="It begins without rights. Choose it in an employee’s row, or name it in the column group of a file."
      error={fault}
    >
      <span class="row">
        <input
          id="new-group"
          autocomplete="off"
          aria-describedby={hintId('new-group')}
          aria-invalid={fault !== null}
          value={name}
          // Enter would submit the form around it.
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            add()
          }}
          onInput={({ currentTarget: { value } }) => setName(value)}
        />
        <button type="button" class="quiet" disabled={name === '' || fault !== null} onClick={add}>
          Add the group
        </button>
      </span>
    </Field>
  )
}
