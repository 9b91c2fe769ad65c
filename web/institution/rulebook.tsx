import { useEffect } from 'preact/hooks'
import type { Hex } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import type { Settings } from '../settings.js'
import { isInForce } from './isInForce.js'
import { Publishing } from './publishing.js'
import { policyOf, withEmployees, withRules } from './rulebookDraft.js'
import { RulesRow } from './rulesRow.js'
import type { RulebookWork } from './useRulebook.js'

interface RulebookProps {
  readonly work: RulebookWork
  readonly settings: Settings
  /** Null until they have been read. */
  readonly employees: readonly Hex[] | null
  readonly symbols: readonly string[]
  /** In force now; 0 before the first one. */
  readonly version: number
  readonly onPublished: () => void
}

/** The rules are written anew each time: nobody can read the published ones back, its author neither. */
export function Rulebook({ work, settings, employees, symbols, version, onPublished }: RulebookProps) {
  const { draft, edit, publishingSince, published, error } = work
  const busy = publishingSince !== null
  // A rulebook without its members bars them all: none is written before they are known.
  const written = employees === null ? null : withEmployees(draft, employees)
  const policy = written === null ? null : policyOf(written)
  const isAmountWrong = written !== null && policy === null
  useEffect(() => {
    if (published !== null) onPublished()
  }, [published, onPublished])
  const publish = (event: Event) => {
    event.preventDefault()
    if (policy !== null) work.publish(policy)
  }
  return (
    <Card
      title="Rulebook"
      aside={
        <span class="muted" data-test="version">
          {version === 0 ? 'none published yet' : `version ${version} is in force`}
        </span>
      }
    >
      <p class="muted">
        It is sealed to the enclave on this device. Nobody reads it back, you neither: publishing replaces all
        of it.
      </p>
      <form onSubmit={publish}>
        <div class="scroll">
          <table class="rules">
            <thead>
              <tr>
                <th scope="col">Employee</th>
                <th scope="col">Buys</th>
                <th scope="col">Sells</th>
                <th scope="col" class="wide-only">
                  May not trade
                </th>
              </tr>
            </thead>
            <tbody>
              {written?.rules.map((rules) => (
                <RulesRow
                  key={rules.address}
                  rules={rules}
                  symbols={symbols}
                  settings={settings}
                  onChange={(changed) => edit((before) => withRules(before, changed))}
                />
              ))}
            </tbody>
          </table>
        </div>
        {written === null ? <p class="muted">Reading the members…</p> : null}
        <Field
          label="Largest order, in USDC"
          id="max-order"
          hint={
            isAmountWrong ? 'Write a plain number, such as 25000.' : 'Of one order; a larger one is refused.'
          }
        >
          <input
            id="max-order"
            aria-describedby={hintId('max-order')}
            inputMode="decimal"
            autocomplete="off"
            aria-invalid={isAmountWrong}
            value={draft.maxOrder}
            onInput={({ currentTarget: { value } }) => edit((before) => ({ ...before, maxOrder: value }))}
          />
        </Field>
        <p>
          <label class="check">
            <input
              type="checkbox"
              checked={draft.allowWithdrawShares}
              onChange={({ currentTarget: { checked } }) =>
                edit((before) => ({ ...before, allowWithdrawShares: checked }))
              }
            />
            Shares may be withdrawn
          </label>
        </p>
        <button type="submit" class="primary" disabled={busy || policy === null}>
          {busy ? 'Publishing…' : `Publish version ${version + 1}`}
        </button>
      </form>
      {busy ? <Publishing since={publishingSince} /> : null}
      {isInForce(published, version) ? (
        <p class="box box-good" role="status">
          Version {published} is in force.
        </p>
      ) : null}
      <FailureBox error={error} />
    </Card>
  )
}
