import { setTimeout as sleep } from 'node:timers/promises'

const LOOKED = /"(?:open orders read|escrow events not read)"/
const LOOK_MS = 5
/** A node that does not answer is not waited for: its test begins then. */
const PATIENCE_MS = 120_000

/** Resolves when a server has looked at the chain: an order that is opened sooner may be found by its start. */
export async function firstLook(logText: () => string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!LOOKED.test(logText()) && performance.now() < giveUpAt) await sleep(LOOK_MS)
}
