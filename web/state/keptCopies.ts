// The copies of the institution's rulebooks that were published or imported here. Only their admin's wallet can open
// them, so the browser's storage may hold them.
import * as z from 'zod'
import type { Hex, RulebookCopy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import type { DeviceStore } from './browser.js'

export interface KeptCopies {
  /** Without storage only the stored copy is lost: the session still has it, and can export it. */
  keep(copy: RulebookCopy): Promise<void>
  /** The undamaged ones of an institution. */
  of(orgId: Hex): Promise<readonly RulebookCopy[]>
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
  }
}

function copiesIn(texts: readonly string[]): RulebookCopy[] {
  return texts.flatMap((text) => {
    try {
      return [rulebookCopySchema.parse(JSON.parse(text))]
    } catch {
      return []
    }
  })
}
