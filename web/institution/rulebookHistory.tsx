import { useMemo, useState } from 'preact/hooks'
import type { Hex, PublishedVersion } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { useAction } from '../hooks/useAction.js'
import { useChanges } from '../hooks/useChanges.js'
import { WalletName } from '../membership/walletName.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { Field, hintId } from '../parts/field.js'
import { ListState } from '../parts/listState.js'
import { Paged } from '../parts/paged.js'
import { useAccount } from '../state/context.js'
import { inForceOf } from '../state/rulebookWork.js'
import { timeOfDay } from '../words/format.js'
import { CHANGES_TITLE, ChangeList } from './changes.js'
import { jsonOf } from './copyBox.js'
import './rulebookHistory.css'

interface RulebookHistoryProps {
  /** Null until the members have been read. */
  readonly employees: readonly Hex[] | null
  /** The version in force when last read. */
  readonly version: number
}

/** Every version that came into force: when, whose, and with what difference, as far as copies on this device tell. */
export function RulebookHistory({ employees, version }: RulebookHistoryProps) {
  const { versions, rulebook } = useAccount()
  const found = versions.value
  const { version: newest } = inForceOf(rulebook.state.value, version)
  const isEmpty = found?.isComplete && found.versions.length === 0
  return (
    <Card title="Rulebook history">
      <Paged
        id="versions"
        what="versions"
        items={found?.versions ?? []}
        textOf={({ version: number, at, admin }) => `version ${number} ${timeWords(at)} ${admin}`}
      >
        {(shown) => (
          <ul class="versions">
            {shown.map((published) => (
              <Version key={published.version} published={published} newest={newest} employees={employees} />
            ))}
          </ul>
        )}
      </Paged>
      <ListState
        what="versions"
        query={versions}
        count={found?.versions.length ?? 0}
        none="No rulebook has been published yet."
      />
      {isEmpty ? null : <ImportCopies />}
    </Card>
  )
}

interface VersionProps {
  readonly published: PublishedVersion
  /** The version in force. */
  readonly newest: number
  readonly employees: readonly Hex[] | null
}

function Version({ published: { version, at, admin }, newest, employees }: VersionProps) {
  const { rulebook } = useAccount()
  const work = rulebook.state.value
  const { busy, error, run } = useAction()
  const [isOpen, setOpen] = useState(false)
  const isKept = work.copies?.has(version) ?? false
  const isPublishing = work.publishingSince !== null
  const show = async () => {
    if (isOpen) setOpen(false)
    else if (await run(() => openAll([version, version - 1]))) setOpen(true)
  }
  const restore = async () => {
    if (employees === null || !(await run(() => openAll([newest, version])))) return
    rulebook.restore(version, employees, inForceOf(rulebook.state.peek(), newest))
    // Once the difference is on the screen: there the version is confirmed.
    requestAnimationFrame(() => document.getElementById(CHANGES_TITLE)?.focus())
  }
  /** Opens the copies of these versions that are on this device and still sealed. */
  async function openAll(wanted: readonly number[]): Promise<void> {
    for (const one of wanted) {
      const { copies, policies } = rulebook.state.peek()
      const copy = copies?.get(one)
      if (copy !== undefined && !policies.has(one)) await rulebook.open(copy, one)
    }
  }
  return (
    <li data-version={version}>
      <div class="version-head">
        <b>Version {version}</b>
        {version === newest ? <span class="tag tag-good">in force</span> : null}
        {isKept || work.copies === null ? null : <span class="tag">no copy on this device</span>}
      </div>
      <p class="muted">
        <time dateTime={new Date(at * 1_000).toISOString()}>{timeWords(at)}</time> by{' '}
        <WalletName address={admin} />
      </p>
      {isKept ? (
        <p class="row">
          <button type="button" class="quiet" disabled={busy} aria-expanded={isOpen} onClick={show}>
            {busy ? 'Opening…' : isOpen ? 'Hide the difference' : 'Show the difference'}
            <span class="visually-hidden"> of version {version}</span>
          </button>
          {version === newest ? null : (
            <button
              type="button"
              class="quiet"
              disabled={busy || isPublishing || employees === null}
              onClick={restore}
            >
              Restore<span class="visually-hidden"> version {version}</span>
            </button>
          )}
        </p>
      ) : null}
      {isOpen ? <Difference version={version} /> : null}
      <FailureBox error={error} />
    </li>
  )
}

/** How a version differs from the one before it. */
function Difference({ version }: { version: number }) {
  const { policies } = useAccount().rulebook.state.value
  const [before, after] = [policies.get(version - 1) ?? null, policies.get(version)]
  const build = useMemo(() => after && (() => after), [after])
  const changes = useChanges(before, build ?? null)?.changes
  if (changes === undefined) return null
  return (
    <div data-test="difference">
      {before === null && version > 1 ? (
        <p>
          This device has no copy of version {version - 1}, so the difference is unknown. The rules of version{' '}
          {version}:
        </p>
      ) : null}
      {changes.length === 0 ? <p>The same rules as version {version - 1}.</p> : null}
      <ChangeList id={`version-${version}-changes`} changes={changes} />
    </div>
  )
}

/** Takes copies from other devices of this admin. */
function ImportCopies() {
  const { rulebook } = useAccount()
  const { busy, error, run } = useAction()
  const take = (input: HTMLInputElement) =>
    run(async () => {
      try {
        for (const file of input.files ?? []) {
          const copy = jsonOf(await file.text())
          // The client refuses what is no copy, under any version.
          await rulebook.open(copy, rulebookCopySchema.safeParse(copy).data?.version ?? 1)
        }
      } finally {
        // Lets the user choose the same file again.
        input.value = ''
      }
    })
  return (
    <>
      <Field
        label="Import copies of earlier versions"
        id="version-copies"
        hint="Files that were exported where those versions were published. They stay on this device, sealed."
      >
        <input
          id="version-copies"
          type="file"
          multiple
          accept="application/json,.json"
          aria-describedby={hintId('version-copies')}
          disabled={busy}
          onChange={({ currentTarget }) => take(currentTarget)}
        />
      </Field>
      <FailureBox error={error} />
    </>
  )
}

/** @param at Unix seconds */
const timeWords = (at: number) => timeOfDay(new Date(at * 1_000).toISOString(), new Date(0))
