import { useState } from 'preact/hooks'
import {
  type AccountHistory,
  periodOf,
  type StatementFormat,
  statementFile,
  statementOf,
} from '../../src/client/history.js'
import { Choice } from '../parts/choice.js'
import { Field } from '../parts/field.js'
import { saveFile } from '../state/browser.js'
import { useAccount } from '../state/context.js'
import { monthsOf } from '../words/actions.js'

const FORMATS = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['tax', 'CSV for tax software'],
] as const
const FILES = {
  pdf: { end: '.pdf', type: 'application/pdf' },
  csv: { end: '.csv', type: 'text/csv' },
  tax: { end: '-gains.csv', type: 'text/csv' },
} as const

const NOTHING_READ: AccountHistory = { entries: [], finalUntil: 0 }

/** Saves a statement of a month or a year, made in this page from the history. */
export function StatementBox() {
  const { session, trades } = useAccount()
  const [chosen, setChosen] = useState<string | null>(null)
  const [format, setFormat] = useState<StatementFormat>('pdf')
  const { entries, finalUntil } = trades.value ?? NOTHING_READ
  const names = monthsOf(entries)
  const name = chosen ?? names[0]
  const period = name === undefined ? null : periodOf(name)
  if (period === null) return null
  const save = () => {
    const { end, type } = FILES[format]
    const bytes = statementFile(statementOf(entries, period, finalUntil), format, session.address)
    saveFile(`statement-${period.name}${end}`, bytes, type)
  }
  return (
    <details>
      <summary>Statements</summary>
      <Field
        label="Month or year"
        id="statement-period"
        hint="By UTC. Sales are net of fees; shares that were bought first are sold first. The file is not encrypted."
      >
        <select
          id="statement-period"
          value={period.name}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {names.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </Field>
      <Choice legend="File" name="statement-format" options={FORMATS} value={format} onChange={setFormat} />
      <button type="button" onClick={save}>
        Save the statement
      </button>
    </details>
  )
}
