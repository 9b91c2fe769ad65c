import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client, Policy, RulebookCopy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { keepCopy } from '../institution/keptCopy.js'
import { beginningOf, type RulebookDraft, type RulebookInForce } from '../institution/rulebookDraft.js'

/**
 * The rulebook being edited or published, kept across the page's screens, so that a draft is not lost. It ends with the
 * session.
 */
export interface RulebookWork {
  readonly state: ReadonlySignal<RulebookState>
  /** @param from the rulebook that a new draft starts from */
  edit(to: (before: RulebookDraft) => RulebookDraft, from: RulebookInForce): void
  /** Discards the draft. */
  restart(): void
  /**
   * Starts from the rulebook in a copy, and stores the copy.
   * @throws the errors of `Client.openRulebookCopy`
   */
  open(copy: unknown, version: number): Promise<void>
  /** Never rejects: the result is in `published` and `error`. */
  publish(policy: Policy, base: number): Promise<void>
}

export interface RulebookState {
  /** The last rulebook whose rules are known here. */
  readonly known: RulebookInForce | null
  /** The copy of that rulebook. */
  readonly copy: RulebookCopy | null
  /** The draft and its base version; null before the first edit. */
  readonly draft: (RulebookDraft & { readonly base: number }) | null
  /** The start of the running publication in milliseconds; null without one. */
  readonly publishingSince: number | null
  /** The version that was published last. */
  readonly published: number | null
  /** The failure of the last publication. */
  readonly error: unknown
}

const NOTHING: RulebookState = {
  known: null,
  copy: null,
  draft: null,
  publishingSince: null,
  published: null,
  error: null,
}

export function createRulebookWork(
  client: Pick<Client, 'openRulebookCopy' | 'publishRulebook'>,
): RulebookWork {
  const state = signal(NOTHING)
  const change = (to: Partial<RulebookState>) => {
    state.value = { ...state.peek(), ...to }
  }
  return {
    state,
    edit(to, from) {
      const { draft } = state.peek()
      change({ draft: { ...to(draft ?? beginningOf(from)), base: draft?.base ?? from.version } })
    },
    restart: () => change({ draft: null }),
    async open(given, version) {
      const policy = await client.openRulebookCopy(given, version)
      const copy = rulebookCopySchema.parse(given)
      keepCopy(copy)
      change({ known: { version, policy }, copy, draft: null })
    },
    async publish(policy, base) {
      change({ publishingSince: Date.now(), published: null, error: null })
      try {
        const { version, copy } = await client.publishRulebook(policy, { base })
        if (copy !== null) keepCopy(copy)
        const { draft } = state.peek()
        change({
          ...{ known: { version, policy }, copy, publishingSince: null, published: version },
          // Edits made during the publication continue from the new version.
          draft: draft && { ...draft, base: version },
        })
      } catch (error) {
        change({ publishingSince: null, error })
      }
    },
  }
}
