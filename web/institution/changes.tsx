import type { RulebookChange } from '../../src/client/admin.js'
import { useNames, WalletName } from '../membership/walletName.js'
import { Paged } from '../parts/paged.js'
import './changes.css'

interface ChangesProps {
  readonly changes: readonly RulebookChange[]
  /** The version in force, and whether its rules are known. */
  readonly version: number
  readonly isKnown: boolean
  /** The version from which the draft was restored; null if it was not. */
  readonly restored: number | null
  /** Discards the draft; null without one. */
  readonly onDiscard: (() => void) | null
}

const TAGS = { lifted: 'tag tag-bad', tightened: 'tag', added: 'tag' } as const
/** The heading of the next publication's changes: where a restored version is confirmed. */
export const CHANGES_TITLE = 'changes-title'

/** Previews the changes of a publication. */
export function Changes({ changes, version, isKnown, restored, onDiscard }: ChangesProps) {
  return (
    <section aria-labelledby={CHANGES_TITLE}>
      <h3 id={CHANGES_TITLE} class="spaced" tabIndex={-1}>
        What version {version + 1} changes
      </h3>
      {restored === null ? null : (
        <p data-test="restored">
          These are the rules of version {restored}. Members it did not list get no rights.
        </p>
      )}
      {isKnown ? null : (
        <p>
          <b>It may lift rules of version {version}, which are unknown.</b> The new rules:
        </p>
      )}
      {changes.length === 0 ? <p class="muted">No changes from version {version}.</p> : null}
      <div data-test="changes">
        <ChangeList id="changes" changes={changes} />
      </div>
      {onDiscard === null || changes.length === 0 ? null : (
        <p>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              onDiscard()
              // The button goes with the draft.
              document.getElementById(CHANGES_TITLE)?.focus()
            }}
          >
            Discard the draft
          </button>
        </p>
      )}
    </section>
  )
}

interface ChangeListProps {
  /** Unique on the screen. */
  readonly id: string
  readonly changes: readonly RulebookChange[]
}

export function ChangeList({ id, changes }: ChangeListProps) {
  const nameOf = useNames()
  return (
    <Paged
      id={id}
      what="changes"
      items={changes}
      textOf={({ effect, employee, text }) =>
        `${effect} ${employee === null ? '' : nameOf(employee)} ${employee} ${text}`
      }
    >
      {(shown) => (
        <ul class="changes">
          {shown.map(({ effect, employee, text }) => (
            <li key={`${effect} ${employee} ${text}`}>
              <span class={TAGS[effect]}>{effect}</span>{' '}
              {employee === null ? null : <WalletName address={employee} />} {text}
            </li>
          ))}
        </ul>
      )}
    </Paged>
  )
}
