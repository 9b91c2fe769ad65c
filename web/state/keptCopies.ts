// The copies of the institution's rulebooks that were published or imported here. Only their admin's wallet can open
// them, so the browser's storage may hold them.
import * as z from 'zod/mini'
import type { Publication, RulebookCopy } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'
import { publicationSchema, rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import type { DeviceStore } from './browser.js'

export interface KeptCopies {
  /** Without storage only the stored copy is lost: the session still has it, and can export it. */
  keep(copy: RulebookCopy): Promise<void>
  /** The undamaged ones of an institution. */
  of(orgId: Hex): Promise<readonly RulebookCopy[]>
  /** Keeps what is about to be posted for its institution, in place of an earlier one. */
  keepOnItsWay(publication: Publication): Promise<void>
  /** What was posted for an institution and not answered; null without one. */
  onItsWay(orgId: Hex): Promise<Publication | null>
  forgetOnItsWay(orgId: Hex): Promise<void>
}

/** Where the one copy of an institution was kept before there was a history. */
const OLD_PREFIX = 'desk:rulebook:'

type Place = Pick<RulebookCopy, 'chainId' | 'escrow'>

export function createKeptCopies(store: DeviceStore, place: Place): KeptCopies {
  const prefixOf = (orgId: Hex, { chainId, escrow }: Place) =>
    `rulebook/${chainId}/${escrow}/${orgId}/`.toLowerCase()
  const keep = async (copy: RulebookCopy) => {
    const text = JSON.stringify(z.encode(rulebookCopySchema, copy))
    await store.set(`${prefixOf(copy.orgId, copy)}${copy.version}`, new TextEncoder().encode(text))
  }
  const nameOnItsWay = (orgId: Hex) => `publishing/${place.chainId}/${place.escrow}/${orgId}`.toLowerCase()
  /** Moves the copy that an earlier version of the page kept. */
  const moveOld = async (orgId: Hex) => {
    const [old] = copiesIn([localStorage.getItem(OLD_PREFIX + orgId) ?? ''])
    if (old !== undefined) await keep(old)
    localStorage.removeItem(OLD_PREFIX + orgId)
  }
  return {
    keep: (copy) => keep(copy).catch(() => undefined),
    async of(orgId) {
      try {
        await moveOld(orgId)
        const found = await store.all(prefixOf(orgId, place))
        return copiesIn(found.map((bytes) => new TextDecoder().decode(bytes)))
      } catch {
        // The storage is forbidden.
        return []
      }
    },
    async keepOnItsWay(publication) {
      const text = JSON.stringify(z.encode(publicationSchema, publication))
      const name = nameOnItsWay(publication.body.author.orgId)
      await store.set(name, new TextEncoder().encode(text)).catch(() => undefined)
    },
    async onItsWay(orgId) {
      const bytes = await store.get(nameOnItsWay(orgId)).catch(() => null)
      return bytes && (publicationSchema.safeParse(jsonOf(new TextDecoder().decode(bytes))).data ?? null)
    },
    forgetOnItsWay: (orgId) => store.set(nameOnItsWay(orgId), new Uint8Array()).catch(() => undefined),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function copiesIn(texts: readonly string[]): RulebookCopy[] {
  return texts.flatMap((text) => {
    const copy = rulebookCopySchema.safeParse(jsonOf(text))
    return copy.success ? [copy.data] : []
  })
}
