import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createLogReader } from '../../src/chain/logReader.js'
import { createRpc } from '../../src/chain/rpc.js'
import { narrationOf, queriesOf } from '../../src/server/narrator/events.js'
import { jsonLine } from '../../src/server/narrator/lines.js'
import type { World } from './world.js'

const LOOK_MS = 200
const cursorSchema = z.looseObject({
  start: z.looseObject({ number: z.int() }),
  blocks: z.array(z.looseObject({ number: z.int() })),
})

/** The servers' narration of the chain's events. */
interface Narrated {
  /** The lines of the chain's events from the narration's start to its cursor. */
  readonly due: readonly string[]
  /** The lines that the servers have printed so far. */
  readonly told: readonly string[]
  /** The lines of the events after the cursor: an order that has not ended yet may still end. */
  readonly later: readonly string[]
}

/** Waits until narration has come to the head of now. */
export async function readNarration(world: World, patienceMs: number): Promise<Narrated> {
  const { info, provider: node } = world.sandbox
  const head = await node.getBlockNumber()
  const giveUpAt = performance.now() + patienceMs
  const cursorOf = async () => {
    const saved = (await world.store.rows('state')).find(({ id }) => id === 'narrator')
    return cursorSchema.parse(JSON.parse(saved?.doc ?? ''))
  }
  let cursor = await cursorOf()
  const last = () => cursor.blocks.at(-1)?.number ?? 0
  while (last() < head && performance.now() < giveUpAt) {
    await sleep(LOOK_MS)
    cursor = await cursorOf()
  }
  // A server prints its lines immediately after it has saved the cursor.
  await sleep(LOOK_MS * 5)
  const told = [...world.told]
  const { usdc: _, ...contracts } = info.contracts
  const rpc = createRpc({ chainId: info.chainId, urls: [info.rpcUrl], timeoutMs: 20_000 })
  const reader = createLogReader({ rpc, queries: queriesOf(contracts), maxBlocks: Number.MAX_SAFE_INTEGER })
  async function lines(from: number, to: number): Promise<string[]> {
    const logs = from > to ? [] : ((await reader.readPiece({ from, to }))?.logs ?? [])
    return logs.flatMap((log) => {
      const narration = narrationOf(log)
      return narration === null
        ? []
        : [jsonLine({ kind: 'event', time: BigInt(log.blockTimestamp ?? 0), narration })]
    })
  }
  return {
    due: await lines(cursor.start.number + 1, last()),
    told,
    later: await lines(last() + 1, await node.getBlockNumber()),
  }
}
