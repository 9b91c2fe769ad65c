import { createRandom, type Random } from '../../faults/support/random.js'
import { startStandIn } from '../../support/brokerStandIn.js'
import { startTestChain } from '../../support/chain.js'
import { ORG } from '../../support/institution.js'
import { createScriptedEnclave, type ScriptedEnclave } from '../../support/scriptedEnclave.js'
import { type Caller, createCaller } from './connection.js'
import { type Exchange, nextExchange } from './exchanges.js'
import { type FuzzedServer, type Held, startFuzzedServer } from './fuzzedServer.js'
import { growthOf, untilQuiet } from './held.js'
import { createJudge } from './judge.js'
import { createTally, type Tally } from './tally.js'
import { createWorld, type World } from './world.js'

export interface FuzzOptions {
  readonly seed: number
  readonly requests: number
  /** What the server holds is looked at so often, after as many requests each time. */
  readonly rounds: number
  /** Where the server keeps its data and its log. */
  readonly directory: string
  readonly print: (line: string) => void
}

/** What a run has shown. */
export interface FuzzReport {
  readonly seed: number
  readonly requests: number
  readonly exchanges: number
  readonly seconds: number
  /** By status and code: how often it was answered. */
  readonly answers: Readonly<Record<string, number>>
  /** What the server held after each round. */
  readonly held: readonly Held[]
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

const CALLERS = 24
const REQUESTS_PER_WRITE = 2_000
const LEAST_WRITES = 6
const FAR = 4_000_000_000

/** Sends seeded requests, right and wrong, at the real server on a real chain. Needs `npm run build`. */
export async function runFuzzer(options: FuzzOptions): Promise<FuzzReport> {
  const { seed, requests, directory } = options
  const chain = await startTestChain()
  const broker = await startStandIn()
  try {
    const world = await createWorld(chain, seed, LEAST_WRITES + Math.floor(requests / REQUESTS_PER_WRITE))
    const enclave = createScriptedEnclave(directory)
    await planRuns(enclave, world)
    const server = await startFuzzedServer({ chain, brokerUrl: broker.url, enclave, directory })
    try {
      return await fuzz(options, server, world)
    } finally {
      await server.stop()
    }
  } finally {
    await broker.stop()
    await chain.stop()
  }
}

/** Every end that a run can come to; the last one repeats. */
async function planRuns(enclave: ScriptedEnclave, { orderIds }: World): Promise<void> {
  const waiting = { outcome: 'placed', retryAt: FAR } as const
  const ends = [
    [waiting],
    [{ outcome: 'failed' }, waiting],
    [{ exit: 1 }, { act: 'garbage' }, waiting],
    [{ outcome: 'queued', retryAt: FAR }],
    [{ outcome: 'rejected' }],
  ] as const
  await enclave.plan({
    ...Object.fromEntries(
      orderIds.map((orderId, index) => [orderId, [...(ends[index % ends.length] ?? [])]]),
    ),
    policy: [
      { outcome: 'accepted', orgId: ORG, version: 1 },
      { outcome: 'rejected', code: 'wrong-version' },
      { act: 'garbage' },
      { act: 'hang' },
      { outcome: 'failed', code: 'broker-unavailable' },
      { outcome: 'accepted', orgId: ORG, version: 1 },
    ],
  })
}

async function fuzz(options: FuzzOptions, server: FuzzedServer, world: World): Promise<FuzzReport> {
  const { seed, requests, rounds, print } = options
  const random = createRandom(seed)
  const tally = createTally()
  const held: Held[] = []
  const startedAt = performance.now()
  for (let round = 1; round <= rounds && server.faults.length === 0; round++) {
    await runRound({ random, world, server, tally }, (requests * round) / rounds)
    const now = await untilQuiet(server)
    if (now === undefined) break
    held.push(now)
    print(lineOf(tally, held, (performance.now() - startedAt) / 1_000))
  }
  return {
    seed,
    requests: tally.requests(),
    exchanges: tally.exchanges(),
    seconds: (performance.now() - startedAt) / 1_000,
    answers: tally.answers(),
    held,
    violations: [...server.faults, ...tally.violations(), ...growthOf(held)],
  }
}

interface Round {
  readonly random: Random
  readonly world: World
  readonly server: FuzzedServer
  readonly tally: Tally
}

/** Until so many requests are sent altogether. */
async function runRound({ random, world, server, tally }: Round, until: number): Promise<void> {
  const judge = createJudge()
  async function call(caller: Caller): Promise<void> {
    while (tally.requests() < until && server.faults.length === 0) {
      const exchange: Exchange = nextExchange(random, world)
      tally.sent(exchange)
      tally.came(exchange, await caller.carryOut(exchange), judge)
    }
    await caller.hangUp()
  }
  await Promise.all(Array.from({ length: CALLERS }, () => call(createCaller(server.port))))
}

function lineOf(tally: Tally, held: readonly Held[], seconds: number): string {
  const last = held.at(-1)
  const mib = ((last?.heapUsed ?? 0) / 2 ** 20).toFixed(1)
  return `${tally.requests()} requests in ${seconds.toFixed(0)} s: heap ${mib} MiB, ${last?.handles} handles, ${last?.descriptors} descriptors, ${tally.violations().length} violations`
}
