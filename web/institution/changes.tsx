import type { RulebookChange } from '../../src/client/index.js'
import { WalletName } from '../parts/walletName.js'
import type { Settings } from '../settings.js'

interface ChangesProps {
  readonly changes: readonly RulebookChange[]
  /** In force, and whether its rules are known. */
  readonly version: number
  readonly isKnown: boolean
  readonly settings: Settings
}

const TAGS = { lifted: 'tag tag-bad', tightened: 'tag', added: 'tag' } as const

/** What a publication would change, before it is published. */
export function Changes({ changes, version, isKnown, settings }: ChangesProps) {
  return (
    <section aria-labelledby="changes-title">
      <h3 id="changes-title" class="spaced">
        What version {version + 1} changes
      </h3>
      {isKnown ? null : (
        <p>
          <b>The rules of version {version} that it lifts are unknown.</b> Its own rules:
        </p>
      )}
      {changes.length === 0 ? <p class="muted">Nothing: it says what version {version} says.</p> : null}
      <ul class="changes" data-test="changes">
        {changes.map(({ effect, employee, text }) => (
          <li key={`${effect} ${employee} ${text}`}>
            <span class={TAGS[effect]}>{effect}</span>{' '}
            {employee === null ? null : <WalletName address={employee} settings={settings} />} {text}
          </li>
        ))}
      </ul>
    </section>
  )
}
