import { join } from 'node:path'
import { FINAL_DEPTH } from '../src/server/narrator/history.js'
import { startHelper } from './support/childProcess.js'
import { startCountingProxy } from './support/countingProxy.js'
import { type EventChain, startEventChain } from './support/eventChain.js'
import type { Figure } from './support/figure.js'
import type { NarrationResult, NarrationRound } from './support/narrationResult.js'
import { type NarrationAnswer, narrationAnswerSchema } from './support/narrationTask.js'
import { BENCH_DIRECTORY } from './support/platform.js'

/** Blocks of one range: with 200 events in each, about what public nodes take. */
const RANGE = 25

export const narration: Figure = {
  name: 'narration',
  title: 'Catching up with events',
  async measure({ rounds, events, print }): Promise<NarrationResult> {
    const chain = await startEventChain(events)
    print(`${chain.events} events in ${chain.to - chain.from} blocks`)
    try {
      // The first round is a warm-up, as both are processes of their own each time: the node's caches.
      await measureRound(chain, 0)
      const measured: NarrationRound[] = []
      for (let round = 1; round <= rounds.rounds; round++) measured.push(await measureRound(chain, round))
      const followed = await follow(chain)
      const notes = [`ranges of ${RANGE} blocks, one anvil for both, five queries in each request`]
      return { kind: 'narration', events: chain.events, rounds: measured, ...followed, notes }
    } finally {
      await chain.stop()
    }
  },
}

/** The two in turns; who is first changes from round to round. */
async function measureRound(chain: EventChain, round: number): Promise<NarrationRound> {
  if (round % 2 === 0) {
    const { ms: oursMs } = await run(chain, 'ours')
    return { oursMs, bareMs: (await run(chain, 'bare')).ms }
  }
  const { ms: bareMs } = await run(chain, 'bare')
  return { bareMs, oursMs: (await run(chain, 'ours')).ms }
}

/** Once more, with the requests counted and the memory looked at. */
async function follow(chain: EventChain) {
  const proxy = await startCountingProxy(chain.rpcUrl)
  try {
    const { ticks, heapMiB } = await run({ ...chain, rpcUrl: proxy.url }, 'ours', true)
    // Before its first tick, the reader asks for the chain's id (twice: once to know the node) and for two blocks.
    return {
      requests: proxy.requests() - REQUESTS_BEFORE,
      ticks,
      heapMiB: heapMiB.slice(0, -KEEPING_TICKS),
      keepingHeapMiB: heapMiB.slice(-KEEPING_TICKS),
    }
  } finally {
    await proxy.stop()
  }
}

const REQUESTS_BEFORE = 4
/** Those whose ranges have blocks that a reorganization may still remove. */
const KEEPING_TICKS = Math.ceil(FINAL_DEPTH / RANGE)

async function run(chain: EventChain, way: 'ours' | 'bare', isFollowed = false): Promise<NarrationAnswer> {
  const reader = startHelper('./narrationReader.ts')
  try {
    const { from, to, rpcUrl } = chain
    const env = { ...chain.env, RPC_URL: rpcUrl, RPC_TIMEOUT: '60s' }
    const dataDir = join(BENCH_DIRECTORY, `narration-${process.pid}`)
    const task = { way, env, dataDir, from, to, range: RANGE, isFollowed }
    const found = await reader.ask(task, narrationAnswerSchema)
    if (found.events !== chain.events) throw new Error(`${way}: ${found.events} of ${chain.events} events`)
    return found
  } finally {
    await reader.stop()
  }
}
