import { useRef, useState } from 'preact/hooks'
import {
  type EmployeeFile,
  type EmployeeRow,
  type RowFault,
  readEmployeeFile,
} from '../../src/client/admin.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { Paged } from '../parts/paged.js'
import type { RulebookInForce, SharedRules } from '../rulebooks/rulebookDraft.js'
import { useAccount } from '../state/context.js'
import { InviteAll } from './inviteAll.js'
import './importBox.css'

interface ImportBoxProps {
  readonly symbols: readonly string[]
  /** Those of the draft. */
  readonly groups: SharedRules['groups']
  readonly inForce: RulebookInForce
}

/** Takes employees from a CSV file: names onto this device, rules into the draft. */
export function ImportBox({ symbols, groups, inForce }: ImportBoxProps) {
  const { rulebook, names } = useAccount()
  const { busy, error, run } = useAction()
  const [file, setFile] = useState<EmployeeFile | null>(null)
  const [taken, setTaken] = useState<number | null>(null)
  const faults = file?.faults ?? []
  const field = useRef<HTMLInputElement>(null)
  const read = (input: HTMLInputElement) =>
    run(async () => {
      const [chosen] = input.files ?? []
      if (chosen === undefined) return
      setTaken(null)
      setFile(null)
      try {
        const nameable = { symbols, groups: Object.keys(groups) }
        const found = await readEmployeeFile(await chosen.text(), nameable)
        if (found.faults.length > 0) setFile(found)
        else await take(found.rows)
      } finally {
        // Lets the user choose the same file again.
        input.value = ''
      }
    })
  async function take(rows: readonly EmployeeRow[]): Promise<void> {
    const given = rows.flatMap(({ address, name }) => (name === undefined ? [] : [[address, name] as const]))
    // The names first: a wallet that refuses to seal them leaves the draft as it was.
    if (given.length > 0) await names.give(given)
    await rulebook.take(rows, inForce)
    setFile(null)
    setTaken(rows.length)
  }
  /** Ends the question about bad lines, from a button that goes with it. */
  const answer = async (rows: readonly EmployeeRow[] | null) => {
    if (rows === null) setFile(null)
    else await run(() => take(rows))
    // Once it is enabled again.
    requestAnimationFrame(() => field.current?.focus())
  }
  return (
    <details class="import">
      <summary>Import employees from a CSV file</summary>
      <Field
        label="CSV file"
        id="employee-file"
        error={faults.length === 0 ? null : faultWords(faults)}
        hint={
          <>
            The first line names the columns: <code>wallet</code>, and optionally <code>name</code>,{' '}
            <code>buy</code>, <code>sell</code> (yes or no) and <code>restricted</code> (symbols, with spaces
            between them), or a <code>group</code> in place of these three. The file stays on this device.
            Nothing is published yet. Employees that the file leaves out keep their rules, and those in it are
            published once they are invited; on the command line, <code>policy --employees</code> replaces all
            employees, invited or not.
          </>
        }
      >
        <input
          id="employee-file"
          ref={field}
          type="file"
          accept="text/csv,.csv"
          aria-describedby={hintId('employee-file')}
          aria-invalid={faults.length > 0}
          disabled={busy}
          onChange={({ currentTarget }) => read(currentTarget)}
        />
      </Field>
      {file === null ? null : (
        <div class="box box-bad" role="alert" data-test="faults">
          <Paged
            id="faults"
            what="bad lines"
            items={faults}
            textOf={({ line, reason }) => `${line ?? ''} ${reason}`}
          >
            {(shown) => (
              <ul class="changes">
                {shown.map(({ line, reason }) => (
                  <li key={line}>
                    {line === null ? null : <b>Line {line}: </b>}
                    {reason}
                  </li>
                ))}
              </ul>
            )}
          </Paged>
          {file.rows.length === 0 ? null : (
            <p class="row">
              <button type="button" disabled={busy} onClick={() => answer(file.rows)}>
                Import the {employeeWords(file.rows.length)} on the other lines
              </button>
              <button type="button" disabled={busy} onClick={() => answer(null)}>
                Import nothing
              </button>
            </p>
          )}
        </div>
      )}
      {taken === null ? null : (
        <p class="box box-good" role="status" data-test="imported">
          {employeeWords(taken)} imported into the draft below.
        </p>
      )}
      <FailureBox error={error} />
      <InviteAll />
    </details>
  )
}

function faultWords(faults: readonly RowFault[]): string {
  if (faults.some(({ line }) => line === null)) return 'Nothing was imported. Choose another file.'
  return faults.length === 1
    ? 'Nothing was imported: one line is wrong. Correct it, and choose the file again.'
    : `Nothing was imported: ${faults.length} lines are wrong. Correct them, and choose the file again.`
}

const employeeWords = (count: number) => (count === 1 ? '1 employee' : `${count} employees`)
