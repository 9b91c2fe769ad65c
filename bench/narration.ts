import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { bytesToHex } from '../src/protocol/hex.js'
import { castAccounts } from '../src/sandbox/accounts.js'
import { startAnvil } from '../src/sandbox/anvil.js'
import { deployAll, localProvider } from '../src/sandbox/localChain.js'
import { drawSecrets, publicIdentity } from '../src/sandbox/secrets.js'
import { portOf } from '../src/server/http/listener.js'
import { FINAL_DEPTH } from '../src/server/narrator/history.js'
import { emitOrders } from './support/emittedOrders.js'
import type { Figure, Result } from './support/figure.js'
import type { NarrationAnswer, NarrationTask } from './support/narrationReader.js'
import { BENCH_DIRECTORY, bareEnvironment } from './support/platform.js'
import { startHelper } from './support/processes.js'
import { growthOf, spreadOf } from './support/statistics.js'

const EVENTS_PER_BLOCK = 200
const ID_BYTES = 32
/** Blocks of one range: with 200 events in each, about the most that public nodes take. */
const RANGE = 25
const BARS = { ofBare: 0.8, heapGrowth: 1.1 }
/** Before its first tick, the reader asks for the chain's id (twice: once to know the node) and for two blocks. */
const REQUESTS_BEFORE = 4
/** Ticks whose ranges have blocks that a reorganization may still remove. */
const KEEPING_TICKS = Math.ceil(FINAL_DEPTH / RANGE)

const answerSchema: z.ZodType<NarrationAnswer> = z.strictObject({
  ms: z.number(),
  events: z.int(),
  ticks: z.int(),
  heapMiB: z.array(z.number()),
})

/** A chain of its own with many events on it. */
interface EventChain {
  readonly rpcUrl: string
  /** Settings of a server that would narrate it. */
  readonly env: Record<string, string>
  /** The block before the first event, and the last one. */
  readonly from: number
  readonly to: number
  readonly events: number
  stop(): Promise<void>
}

/** Both ways over the same ranges, right after one another, in milliseconds. */
interface NarrationRound {
  readonly ours: number
  readonly bare: number
}

export const narration: Figure = {
  name: 'narration',
  title: 'Catching up with events',
  async measure({ rounds, events, print }) {
    const chain = await startEventChain(events)
    print(`${chain.events} events in ${chain.to - chain.from} blocks`)
    try {
      const measured: NarrationRound[] = []
      for (let round = 0; round <= rounds; round++) {
        const found = await measureRound(chain, round)
        // The first round warms the node's caches up; both readers are processes of their own each time.
        if (round > 0) measured.push(found)
      }
      return resultOf(chain, measured, await follow(chain))
    } finally {
      await chain.stop()
    }
  },
}

/** @param events rounded up to whole blocks */
async function startEventChain(events: number): Promise<EventChain> {
  const anvil = await startAnvil()
  const { rpcUrl, chainId } = anvil
  const provider = localProvider(rpcUrl, chainId)
  const stop = async () => {
    provider.destroy()
    await anvil.stop()
  }
  try {
    const accounts = castAccounts(anvil)
    const secrets = drawSecrets()
    const { contracts } = await deployAll(provider, accounts, publicIdentity(secrets).enclaveSigner)
    const from = await provider.getBlockNumber()
    const count = Math.ceil(events / EVENTS_PER_BLOCK) * EVENTS_PER_BLOCK
    await emitOrders(provider, {
      escrow: contracts.orderEscrow,
      from: accounts.relayer.address,
      name: 'OrderOpened',
      orderIds: Array.from({ length: count }, () => bytesToHex(randomBytes(ID_BYTES))),
      perBlock: EVENTS_PER_BLOCK,
    })
    const relayerPrivateKey = accounts.relayer.privateKey
    const env = bareEnvironment({ rpcUrl, chainId, contracts, secrets, relayerPrivateKey })
    return { rpcUrl, env, from, to: await provider.getBlockNumber(), events: count, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The two in turns; the first of a round is the last of the next. */
async function measureRound(chain: EventChain, round: number): Promise<NarrationRound> {
  if (round % 2 === 0) {
    const { ms: ours } = await run(chain, 'ours')
    return { ours, bare: (await run(chain, 'bare')).ms }
  }
  const { ms: bare } = await run(chain, 'bare')
  return { bare, ours: (await run(chain, 'ours')).ms }
}

/** Once more, with the requests counted by a proxy and the memory looked at. */
async function follow(chain: EventChain) {
  let requests = 0
  const proxy = createServer(async (request, response) => {
    requests++
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(chain.rpcUrl, { method: 'POST', headers, body: await text(request) })
    response.setHeader('content-type', 'application/json')
    response.end(await answer.text())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const rpcUrl = `http://127.0.0.1:${portOf(proxy)}`
    const { ticks, heapMiB } = await run({ ...chain, rpcUrl }, 'ours', true)
    return { requests: requests - REQUESTS_BEFORE, ticks, heapMiB }
  } finally {
    proxy.close()
    proxy.closeAllConnections()
  }
}

async function run(
  chain: EventChain,
  way: NarrationTask['way'],
  isFollowed = false,
): Promise<NarrationAnswer> {
  const reader = startHelper('./narrationReader.ts')
  try {
    const { from, to, rpcUrl } = chain
    const env = { ...chain.env, RPC_URL: rpcUrl, RPC_TIMEOUT: '60s' }
    const dataDir = join(BENCH_DIRECTORY, `narration-${process.pid}`)
    const task: NarrationTask = { way, env, dataDir, from, to, range: RANGE, isFollowed }
    const found = await reader.ask(task, answerSchema)
    if (found.events !== chain.events) throw new Error(`${way}: ${found.events} of ${chain.events} events`)
    return found
  } finally {
    await reader.stop()
  }
}

function resultOf(
  { events }: EventChain,
  measured: readonly NarrationRound[],
  { requests, ticks, heapMiB }: Awaited<ReturnType<typeof follow>>,
): Result {
  const row = (what: 'ours' | 'bare') => ({
    what,
    cells: { 'events/s': spreadOf(measured.map((round) => (events * 1_000) / round[what])) },
  })
  // MiB in use after a garbage collection. The last ticks keep the events that may be taken back.
  const heap = heapMiB.slice(0, -KEEPING_TICKS)
  const keeping = heapMiB.slice(-KEEPING_TICKS)
  return {
    rows: [row('ours'), row('bare')],
    bars: [
      {
        what: 'events/s, ours ÷ bare',
        value: spreadOf(measured.map(({ ours, bare }) => bare / ours)),
        atLeast: BARS.ofBare,
      },
      {
        what: 'heap at the end, by that at the beginning',
        value: spreadOf([growthOf(heap)]),
        atMost: BARS.heapGrowth,
      },
      { what: 'requests for each tick', value: spreadOf([requests / ticks]), atMost: 1 },
    ],
    notes: [
      `ranges of ${RANGE} blocks, one anvil for both, five queries in each request`,
      `heap MiB with the events that may be taken back: ${keeping.map((mib) => mib.toFixed(1)).join(', ')}`,
    ],
    rounds: { measured, requests, ticks, heapMiB },
  }
}
