import type { RulebookCopy } from '../../src/client/admin.js'
import { parseStrictJson } from '../../src/protocol/strictJson.js'
import { useAction } from '../hooks/useAction.js'
import { FailureBox } from '../parts/failureBox.js'
import { saveFile } from '../state/browser.js'

interface CopyBoxProps {
  /** The version in force, above 0. */
  readonly version: number
  /** Whether the rules of that version are known here. */
  readonly isKnown: boolean
  /** The copy of that version; null if this browser has none. */
  readonly copy: RulebookCopy | null
  readonly onOpen: (copy: unknown) => Promise<void>
}

/** Shows the source of the rules in force, or warns that they are unknown. */
export function CopyBox({ version, isKnown, copy, onOpen }: CopyBoxProps) {
  const { busy, error, run } = useAction()
  if (isKnown) {
    return copy === null ? null : (
      <p>
        <button
          type="button"
          class="quiet"
          onClick={() => saveFile(`rulebook-${copy.version}.json`, JSON.stringify(copy))}
        >
          Export a copy of version {version}
        </button>
      </p>
    )
  }
  const importFile = async (file: File | undefined) => {
    if (file === undefined) return
    const text = await file.text()
    await run(() => onOpen(jsonOf(text)))
  }
  return (
    <div class="box box-bad" role="alert" data-test="unknown-rules">
      <strong>
        {copy === null
          ? `This browser has no copy of version ${version}, which is in force`
          : `The rules of version ${version} are still sealed`}
      </strong>
      <p>
        Only the enclave can read a rulebook from the chain. This form starts with no member allowed.{' '}
        <b>Publishing it replaces every rule in force, and this page cannot show which.</b>
      </p>
      {copy === null ? (
        <p>
          <label>
            Import the copy from the browser or command line that published it{' '}
            <input
              type="file"
              accept="application/json,.json"
              disabled={busy}
              onChange={({ currentTarget }) => importFile(currentTarget.files?.[0])}
            />
          </label>
        </p>
      ) : (
        <button type="button" class="primary" disabled={busy} onClick={() => run(() => onOpen(copy))}>
          {busy ? 'Opening…' : `Open the copy of version ${version}`}
        </button>
      )}
      <FailureBox error={error} />
    </div>
  )
}

/** Undefined for invalid JSON, which the client refuses as any other malformed copy. */
export function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}
