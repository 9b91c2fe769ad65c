// What the caller's store keeps of an institution's rulebooks: the one that is being published, and the copies of those that came into force.
import * as z from 'zod/mini'
import type { PolicyVersion } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { jsonOf } from '../protocol/json.js'
import {
  type Publication,
  publicationSchema,
  type RulebookCopy,
  rulebookCopySchema,
} from '../protocol/rulebookCopy.js'
import { type HistoryStore, unlessFailed } from './keptLists.js'

export interface KeptRulebooks {
  /** Replaces what was kept before it. */
  keepPublication(publication: Publication): Promise<void>
  publication(): Promise<Publication | null>
  forgetPublication(): Promise<void>
  keepCopy(copy: RulebookCopy): Promise<void>
  copy(of: PolicyVersion): Promise<RulebookCopy | null>
}

interface Place {
  readonly chainId: number
  readonly escrow: Hex
  /** The admin. */
  readonly account: Hex
}

const NONE = new Uint8Array()

/** Nothing is kept without a store. One that fails, or holds something else, stops no publication. */
export function createKeptRulebooks(store: HistoryStore | undefined, place: Place): KeptRulebooks {
  const { chainId, escrow, account } = place
  const publishing = `publishing/${chainId}/${escrow}/${account}`.toLowerCase()
  const nameOf = ({ orgId, version }: PolicyVersion) =>
    `rulebook/${chainId}/${escrow}/${orgId}/${version}`.toLowerCase()
  async function set(name: string, bytes: Uint8Array): Promise<void> {
    await unlessFailed(async () => store?.set(name, bytes))
  }
  async function get<T>(name: string, schema: z.ZodMiniType<T>): Promise<T | null> {
    const bytes = await unlessFailed(async () => store?.get(name))
    return bytes ? (schema.safeParse(jsonOf(new TextDecoder().decode(bytes))).data ?? null) : null
  }
  return {
    keepPublication: (publication) => set(publishing, bytesOf(z.encode(publicationSchema, publication))),
    publication: () => get(publishing, publicationSchema),
    forgetPublication: () => set(publishing, NONE),
    keepCopy: (copy) => set(nameOf(copy), bytesOf(z.encode(rulebookCopySchema, copy))),
    copy: (of) => get(nameOf(of), rulebookCopySchema),
  }
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
