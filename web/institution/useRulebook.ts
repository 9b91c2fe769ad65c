import { useCallback } from 'preact/hooks'
import type { Client, Policy, RulebookCopy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { useOfSession } from '../hooks/useOfSession.js'
import { keepCopy } from './keptCopy.js'
import { beginningOf, type RulebookDraft, type RulebookInForce } from './rulebookDraft.js'

/**
 * The rulebook that is written or published, wherever in the page one has been since: a draft that was forgotten would
 * undo what its author had just written. It ends with the session.
 */
export interface RulebookWork extends Work {
  /** @param from the rulebook that a new draft begins from */
  readonly edit: (to: (before: RulebookDraft) => RulebookDraft, from: RulebookInForce) => void
  /** Forgets what was written. */
  readonly restart: () => void
  /**
   * Begins from the rulebook in a copy, and keeps the copy.
   * @throws what `Client.openRulebookCopy` throws
   */
  readonly open: (copy: unknown, version: number) => Promise<void>
  /** Never rejects: what becomes of it is in `published` and `error`. */
  readonly publish: (policy: Policy, base: number) => Promise<void>
}

interface Work {
  /** The last rulebook whose rules are known here. */
  readonly known: RulebookInForce | null
  /** Its copy. */
  readonly copy: RulebookCopy | null
  /** What was written, and the version from which it was; null before anything was. */
  readonly draft: (RulebookDraft & { readonly base: number }) | null
  /** Since when it is being published, in milliseconds; null while it is not. */
  readonly publishingSince: number | null
  /** The version that was published last. */
  readonly published: number | null
  /** Why the last one was not published. */
  readonly error: unknown
}

const NOTHING: Work = {
  known: null,
  copy: null,
  draft: null,
  publishingSince: null,
  published: null,
  error: null,
}

interface RulebookSession {
  readonly client: Pick<Client, 'openRulebookCopy' | 'publishRulebook'>
}

export function useRulebook(session: RulebookSession | null): RulebookWork {
  const [work, change] = useOfSession(session, NOTHING)
  const edit = useCallback<RulebookWork['edit']>(
    (to, from) =>
      change((before) => {
        const base = before.draft?.base ?? from.version
        return { ...before, draft: { ...to(before.draft ?? beginningOf(from)), base } }
      }),
    [change],
  )
  const restart = useCallback(() => change((before) => ({ ...before, draft: null })), [change])
  const open = useCallback(
    async (given: unknown, version: number) => {
      if (session === null) return
      const policy = await session.client.openRulebookCopy(given, version)
      const copy = rulebookCopySchema.parse(given)
      keepCopy(copy)
      change((before) => ({ ...before, known: { version, policy }, copy, draft: null }))
    },
    [session, change],
  )
  const publish = useCallback(
    async (policy: Policy, base: number) => {
      if (session === null) return
      const begin = { publishingSince: Date.now(), published: null, error: null }
      change((before) => ({ ...before, ...begin }))
      try {
        const { version, copy } = await session.client.publishRulebook(policy, { base })
        if (copy !== null) keepCopy(copy)
        const known = { version, policy }
        // What was written since goes on from the new version.
        const on = (draft: Work['draft']) => draft && { ...draft, base: version }
        change((before) => ({
          ...{ ...before, known, copy, draft: on(before.draft) },
          ...{ publishingSince: null, published: version },
        }))
      } catch (error) {
        change((before) => ({ ...before, publishingSince: null, error }))
      }
    },
    [session, change],
  )
  return { ...work, edit, restart, open, publish }
}
