import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '../src/protocol/hex.js'
import type { Sandbox } from '../src/sandbox/sandbox.js'
import { emitEndedOrders } from './support/endedOrders.js'
import type { BenchContext, Figure } from './support/figure.js'
import type { IdleRow } from './support/idleResult.js'
import { measureIdle } from './support/idleServer.js'
import { openOrders, type UnpostedOrder } from './support/openOrders.js'
import { BENCH_DIRECTORY, startBenchSandbox } from './support/platform.js'
import { storeEnvelopes } from './support/storedEnvelopes.js'

const OPEN = 50
/** More orders than these do not end in 38 days: the older ones are on no page that a start reads. */
const MOST_ON_CHAIN = 100_000
const ID_BYTES = 32

export const idle: Figure = {
  name: 'idle',
  title: 'A server that nobody asks',
  async measure(context) {
    const sandbox = await startBenchSandbox()
    try {
      await sandbox.server().stop()
      const rows = await measure(sandbox, context)
      const notes = [
        `${OPEN} orders open in each; the others finished, as the store writes them`,
        'ready: every open order is known; memory after a garbage collection, seconds later',
      ]
      return { kind: 'idle', rows, notes }
    } finally {
      await sandbox.stop()
      await rm(sandbox.directory, { recursive: true })
    }
  },
}

/** With nothing stored first; then, for each number, with the same orders in the events of the chain, and without. */
async function measure(sandbox: Sandbox, { stored, print, nodeOptions }: BenchContext): Promise<IdleRow[]> {
  const open = await openOrders(sandbox, OPEN)
  const finished = Array.from({ length: Math.max(...stored) }, () => bytesToHex(randomBytes(ID_BYTES)))
  const rows: IdleRow[] = []
  const look = (count: number, onChain: number) =>
    withStored(open, finished.slice(0, count), async (dataDir) => {
      print(`  a start with ${count} stored, ${onChain} of them on the chain`)
      rows.push({ stored: count, onChain, ...(await measureIdle(sandbox, dataDir, nodeOptions)) })
    })
  for (const count of [0, ...stored]) await look(count, 0)
  const onChain = Math.min(MOST_ON_CHAIN, Math.min(...stored))
  await emitEndedOrders(sandbox, finished.slice(0, onChain))
  await look(Math.min(...stored), onChain)
  return rows
}

/** A data directory, for as long as it is looked at. */
async function withStored(
  open: readonly UnpostedOrder[],
  finished: readonly Hex[],
  look: (dataDir: string) => Promise<void>,
): Promise<void> {
  const dataDir = join(BENCH_DIRECTORY, `idle-${Date.now()}`)
  try {
    await storeEnvelopes(dataDir, open, finished)
    await look(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
