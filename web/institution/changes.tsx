import type { RulebookChange } from '../../src/client/index.js'
import { WalletName } from '../parts/walletName.js'

interface ChangesProps {
  readonly changes: readonly RulebookChange[]
  /** The version in force, and whether its rules are known. */
  readonly version: number
  readonly isKnown: boolean
}

const TAGS = { lifted: 'tag tag-bad', tightened: 'tag', added: 'tag' } as const

/** Previews the changes of a publication. */
export function Changes({ changes, version, isKnown }: ChangesProps) {
  return (
    <section aria-labelledby="changes-title">
      <h3 id="changes-title" class="spaced">
        What version {version + 1} changes
      </h3>
      {isKnown ? null : (
        <p>
          <b>It may lift rules of version {version}, which are unknown.</b> The new rules:
        </p>
      )}
      {changes.length === 0 ? <p class="muted">No changes from version {version}.</p> : null}
      <ul class="changes" data-test="changes">
        {changes.map(({ effect, employee, text }) => (
          <li key={`${effect} ${employee} ${text}`}>
            <span class={TAGS[effect]}>{effect}</span>{' '}
            {employee === null ? null : <WalletName address={employee} />} {text}
          </li>
        ))}
      </ul>
    </section>
  )
}
