import { useCallback } from 'preact/hooks'
import type { Policy } from '../../src/client/index.js'
import { useOfSession } from '../hooks/useOfSession.js'
import type { Session } from '../wallet/session.js'
import { EMPTY_DRAFT, type RulebookDraft } from './rulebookDraft.js'

/**
 * The rulebook that is written or published, wherever in the page one has been meanwhile: a draft that was forgotten
 * would allow again what its author had just barred. It ends with the session.
 */
export interface RulebookWork extends Work {
  readonly edit: (to: (before: RulebookDraft) => RulebookDraft) => void
  /** Never rejects: what becomes of it is in `published` and `error`. */
  readonly publish: (policy: Policy) => Promise<void>
}

interface Work {
  readonly draft: RulebookDraft
  /** Since when it is being published, in milliseconds; null while it is not. */
  readonly publishingSince: number | null
  /** The version that was published last. */
  readonly published: number | null
  /** Why the last one was not published. */
  readonly error: unknown
}

const NOTHING: Work = { draft: EMPTY_DRAFT, publishingSince: null, published: null, error: null }

export function useRulebook(session: Session | null): RulebookWork {
  const [work, change] = useOfSession(session, NOTHING)
  const edit = useCallback<RulebookWork['edit']>(
    (to) => change((before) => ({ ...before, draft: to(before.draft) })),
    [change],
  )
  const publish = useCallback(
    async (policy: Policy) => {
      if (session === null) return
      const begin = { publishingSince: Date.now(), published: null, error: null }
      change((before) => ({ ...before, ...begin }))
      try {
        const { version } = await session.client.publishRulebook(policy)
        change((before) => ({ ...before, publishingSince: null, published: version }))
      } catch (error) {
        change((before) => ({ ...before, publishingSince: null, error }))
      }
    },
    [session, change],
  )
  return { ...work, edit, publish }
}
