// The copy of the institution's latest rulebook that was published or imported here. Only its admin's wallet can open
// it, so the browser's storage may hold it.
import * as z from 'zod'
import type { Hex, RulebookCopy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'

const PREFIX = 'desk:rulebook:'

/** Without storage only the stored copy is lost: the session still has it, and can export it. */
export function keepCopy(copy: RulebookCopy): void {
  try {
    localStorage.setItem(PREFIX + copy.orgId, JSON.stringify(z.encode(rulebookCopySchema, copy)))
  } catch {
    // The storage is full or forbidden.
  }
}

/** Null if none is stored or it is damaged. */
export function keptCopy(orgId: Hex): RulebookCopy | null {
  try {
    return rulebookCopySchema.parse(JSON.parse(localStorage.getItem(PREFIX + orgId) ?? 'null'))
  } catch {
    return null
  }
}
