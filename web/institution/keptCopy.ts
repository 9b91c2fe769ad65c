// The copy of an institution's latest rulebook that was published or imported here. Only its admin's wallet opens it, so it
// may be kept where the browser keeps things.
import * as z from 'zod'
import type { Hex, RulebookCopy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'

const PREFIX = 'desk:rulebook:'

/** A browser that keeps nothing costs the copy alone: the session still has it, and can export it. */
export function keepCopy(copy: RulebookCopy): void {
  try {
    localStorage.setItem(PREFIX + copy.orgId, JSON.stringify(z.encode(rulebookCopySchema, copy)))
  } catch {
    // The storage is full, or forbidden.
  }
}

/** Null when none is kept, or it was damaged. */
export function keptCopy(orgId: Hex): RulebookCopy | null {
  try {
    return rulebookCopySchema.parse(JSON.parse(localStorage.getItem(PREFIX + orgId) ?? 'null'))
  } catch {
    return null
  }
}
