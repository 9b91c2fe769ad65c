import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import {
  type EmployeeRow,
  forgetPublication,
  getKeptPublication,
  getRulebookCopy,
  getRulebookVersion,
  openRulebookCopy,
  type PartsOnChain,
  type PublishedRulebook,
  type PublishOptions,
  publishRulebook,
  type RulebookCopy,
  resumePublication,
} from '../../src/client/admin.js'
import {
  type Client,
  cannotDerive,
  type Hex,
  type HistoryStore,
  type Policy,
  type PolicyVersion,
} from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import {
  beginningOf,
  type RulebookDraft,
  type RulebookInForce,
  withEmployees,
  withImported,
} from '../rulebooks/rulebookDraft.js'
import { OvertakenError } from '../words/failures.js'

/**
 * The rulebook being edited or published, and the earlier ones, kept across the page's screens, so that a draft is not
 * lost. It ends with the session.
 */
export interface RulebookWork {
  readonly state: ReadonlySignal<RulebookState>
  /** Reads the institution's copies on this device, up to a version, and what was cut off. */
  load(orgId: Hex, version: number): Promise<void>
  /** @param from the rulebook that a new draft starts from */
  edit(to: (before: RulebookDraft) => RulebookDraft, from: RulebookInForce): void
  /** Changes the lines of a file's employees, and remembers whom the file names. Never rejects. */
  take(rows: readonly EmployeeRow[], from: RulebookInForce): Promise<void>
  /** Replaces the draft by the rules of an earlier version, whose copy is open. Employees whom it omits get no right. */
  restore(version: number, employees: readonly Hex[], from: RulebookInForce): void
  /** Discards the draft. */
  restart(): void
  /**
   * Opens a copy and stores it. A draft that began without knowing these rules is discarded.
   * @throws the errors of `openRulebookCopy`
   */
  open(copy: unknown, version: number): Promise<void>
  /**
   * Never rejects: the result is in `published` and `error`. Where the wallet turns out to derive no key, nothing is signed: the next call
   * publishes without a copy, unless a key file was chosen by then.
   */
  publish(policy: Policy, base: number): Promise<void>
  /** Goes on with the publication that was cut off, without a signature. Never rejects: the result is in `published` and `error`. */
  resume(): Promise<void>
  /** Forgets the publication that was cut off. What is on the chain of it stays there. */
  forget(): Promise<void>
}

interface RulebookState {
  /** The copies on this device, and those of this session, by version; null until the device's are read. */
  readonly copies: ReadonlyMap<number, RulebookCopy> | null
  /** The rulebooks whose rules are known here, by version. */
  readonly policies: ReadonlyMap<number, Policy>
  /** The draft and its base version; null before the first edit. */
  readonly draft: (RulebookDraft & { readonly base: number }) | null
  /** The version whose rules the draft holds since it was restored; null after an edit. */
  readonly restored: number | null
  /** The wallets of the file that was imported last. */
  readonly imported: readonly Hex[]
  /** The start of the running publication in milliseconds; null without one. */
  readonly publishingSince: number | null
  /** How much of it is on the chain; null while that is unknown. */
  readonly parts: PartsOnChain | null
  /** The version that was posted from this device, in this visit or an earlier one, and not answered. */
  readonly cutOff: number | null
  /** The version that was published last. */
  readonly published: number | null
  /** The failure of the last publication. */
  readonly error: unknown
}

const NOTHING: RulebookState = {
  copies: null,
  policies: new Map(),
  draft: null,
  restored: null,
  imported: [],
  publishingSince: null,
  parts: null,
  cutOff: null,
  published: null,
  error: null,
}

/** @param read the version last read: the server may lag a publication from this page */
export function inForceOf(
  { published, policies }: Pick<RulebookState, 'published' | 'policies'>,
  read: number,
): RulebookInForce {
  const version = Math.max(read, published ?? 0)
  return { version, policy: policies.get(version) ?? null }
}

type Progress = Pick<PublishOptions, 'onProgress'>

/** What this asks of the admin's client, which keeps rulebooks on this device. */
export type RulebookCalls = ReturnType<typeof rulebookCallsOf>

export function rulebookCallsOf(client: Client, store: HistoryStore) {
  return {
    getRulebookVersion: () => getRulebookVersion(client),
    unlock: () => client.unlock(),
    getRulebookCopy: (of: PolicyVersion) => getRulebookCopy(client, of, { store }),
    openRulebookCopy: (copy: unknown, version: number) => openRulebookCopy(client, copy, version, { store }),
    publishRulebook: (policy: Policy, options: Progress & { base: number }) =>
      publishRulebook(client, policy, { ...options, store }),
    getKeptPublication: () => getKeptPublication(client, { store }),
    resumePublication: (options: Progress) => resumePublication(client, { ...options, store }),
    forgetPublication: () => forgetPublication(client, { store }),
  }
}

/** @param derivesNone whether the wallet is known to derive no key */
export function createRulebookWork(client: RulebookCalls, derivesNone: Signal<boolean>): RulebookWork {
  const state = signal(NOTHING)
  const change = (to: Partial<RulebookState>) => {
    state.value = { ...state.peek(), ...to }
  }
  /** The state with a version whose rules are known, and its copy if there is one. */
  const knowing = (version: number, policy: Policy, copy: RulebookCopy | null) => ({
    copies: copyIn(version, copy),
    policies: new Map(state.peek().policies).set(version, policy),
  })
  const copyIn = (version: number, copy: RulebookCopy | null) => {
    const { copies } = state.peek()
    return copy === null ? copies : new Map(copies).set(version, copy)
  }
  const edit: RulebookWork['edit'] = (to, from) => {
    const { draft } = state.peek()
    const edited = { ...to(draft ?? beginningOf(from)), base: draft?.base ?? from.version }
    change({ draft: edited, restored: null })
  }
  const take: RulebookWork['take'] = async (rows, from) => {
    const { draft } = state.peek()
    const taken = withImported(draft ?? beginningOf(from), rows, from)
    // It is drawn in a task of its own: ten thousand lines take half of what may hold up a frame.
    await new Promise((over) => setTimeout(over))
    if (state.peek().draft !== draft) return take(rows, from)
    edit(() => taken, from)
    change({ imported: rows.map(({ address }) => address) })
  }
  /** Whether a copy can be sealed to a key, or the admin knows by now that there will be none. */
  async function isCopySettled(): Promise<boolean> {
    const wasKnown = derivesNone.peek()
    try {
      await keyed(client.unlock())
      return true
    } catch (error) {
      if (!cannotDerive(error)) throw error
      return wasKnown
    }
  }
  /** What needs a key. Where it fails because the wallet derives none, the page asks for a key file. */
  function keyed<T>(act: Promise<T>): Promise<T> {
    return act.catch((error) => {
      if (cannotDerive(error)) derivesNone.value = true
      throw error
    })
  }
  const cutOff = () => client.getKeptPublication().catch(() => null)
  /** @param post null if there is nothing to publish */
  async function publishing(
    post: (options: Progress) => Promise<PublishedRulebook | null>,
    known: (published: PublishedRulebook) => Partial<RulebookState>,
  ) {
    change({ publishingSince: Date.now(), parts: null, cutOff: null, published: null, error: null })
    try {
      const published = await post({ onProgress: (parts) => change({ parts }) })
      const result = published && { ...known(published), published: published.version, restored: null }
      change({ publishingSince: null, ...result })
    } catch (error) {
      change({ publishingSince: null, cutOff: await cutOff(), error })
    }
  }
  return {
    ...{ state, edit, take },
    async load(orgId, newest) {
      const versions = Array.from({ length: newest }, (_, before) => before + 1)
      // The session alone has copies where the browser keeps nothing.
      const copyOf = (version: number) => client.getRulebookCopy({ orgId, version }).catch(() => null)
      const found = await Promise.all(versions.map(copyOf))
      const onItsWay = await cutOff()
      const { copies: ofSession, publishingSince } = state.peek()
      const kept = found.flatMap((copy) => (copy === null ? [] : [[copy.version, copy] as const]))
      change({
        copies: new Map([...kept, ...(ofSession ?? [])]),
        // One that runs in this session is not cut off.
        cutOff: publishingSince === null ? onItsWay : null,
      })
    },
    restore(version, employees, { version: base }) {
      const policy = state.peek().policies.get(version)
      if (policy === undefined) return
      const earlier = { version, policy }
      change({
        draft: { ...withEmployees(beginningOf(earlier), employees, earlier), base },
        restored: version,
      })
    },
    restart: () => change({ draft: null, restored: null, imported: [], error: null }),
    async open(given, version) {
      const policy = await keyed(client.openRulebookCopy(given, version))
      const copy = rulebookCopySchema.parse(given)
      const { draft, policies } = state.peek()
      const isBlind = draft !== null && version >= draft.base && !policies.has(version)
      change({ ...knowing(version, policy, copy), ...(isBlind ? { draft: null, restored: null } : {}) })
    },
    async publish(policy, base) {
      await publishing(
        async (options) => {
          // Before the wallet is asked to sign: the enclave would refuse it only after that.
          if ((await client.getRulebookVersion()).version > base) throw new OvertakenError()
          return (await isCopySettled()) ? client.publishRulebook(policy, { base, ...options }) : null
        },
        ({ version, copy }) => {
          const { draft } = state.peek()
          // Edits made during the publication continue from the new version.
          return { ...knowing(version, policy, copy), draft: draft && { ...draft, base: version } }
        },
      )
    },
    async resume() {
      await publishing(client.resumePublication, ({ version, copy }) => ({ copies: copyIn(version, copy) }))
    },
    async forget() {
      change({ cutOff: null })
      await client.forgetPublication().catch(() => undefined)
    },
  }
}

/**
 * Whether the version published here is in force. `read` is the version last read: it may lag, or be newer after a
 * publication elsewhere.
 */
export function isInForce(published: number | null, read: number): boolean {
  return published !== null && published >= read
}
