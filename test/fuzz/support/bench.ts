import { writeFile } from 'node:fs/promises'
import { claimPorts } from '../../../src/sandbox/ports.js'
import { createRandom, type Random } from '../../faults/random.js'
import { startStandIn } from '../../support/brokerStandIn.js'
import { startTestChain } from '../../support/chain.js'
import { ORG } from '../../support/institution.js'
import type { Service } from './apiRoutes.js'
import { type Caller, createCaller } from './connection.js'
import { type Exchange, nextExchange } from './exchanges.js'
import type { FuzzedProcess, Held } from './fuzzedProcess.js'
import { leaveRuns, scriptOf, startFuzzedEnclave, startFuzzedServer } from './fuzzedServer.js'
import { growthIn, untilQuiet } from './held.js'
import { createTally, type Tally } from './tally.js'
import { createWorld, ENCLAVES_ORDER, type World } from './world.js'

export interface FuzzOptions {
  readonly seed: number
  readonly requests: number
  /** Looks at the held resources, after as many requests each time. */
  readonly rounds: number
  /** Where the server keeps its data and its log. */
  readonly directory: string
  readonly print: (line: string) => void
}

/** The results of a run. */
export interface FuzzReport {
  readonly seed: number
  readonly requests: number
  readonly exchanges: number
  readonly seconds: number
  /** By status and code: how often it was answered. */
  readonly answers: Readonly<Record<string, number>>
  /** Resources that the server and the enclave held after each round. */
  readonly held: Readonly<Record<Service, readonly Held[]>>
  /** Everything that must not be. */
  readonly violations: readonly string[]
}

const CALLERS = 24
const REQUESTS_PER_WRITE = 2_000
const LEAST_WRITES = 6
const FAR = 4_000_000_000

/** Sends seeded requests, right and wrong, at the real server on a real chain and its enclave. Needs `npm run build`. */
export async function runFuzzer(options: FuzzOptions): Promise<FuzzReport> {
  const { seed, requests, directory } = options
  const chain = await startTestChain()
  const broker = await startStandIn()
  try {
    const world = await createWorld(chain, seed, LEAST_WRITES + Math.floor(requests / REQUESTS_PER_WRITE))
    await planRuns(directory, world)
    await leaveRuns(world, directory)
    const { enclave: port } = await claimPorts({ enclave: 0 })
    const server = await startFuzzedServer({ chain, brokerUrl: broker.url, enclavePort: port, directory })
    try {
      const enclave = await startFuzzedEnclave({ port, serverPort: server.port, directory })
      try {
        return await fuzz(options, { server, enclave }, world)
      } finally {
        await enclave.stop()
      }
    } finally {
      await server.stop()
    }
  } finally {
    await broker.stop()
    await chain.stop()
  }
}

/** Every end that a run can come to; the last one repeats. */
async function planRuns(directory: string, { orderIds }: World): Promise<void> {
  const waiting = { outcome: 'placed', retryAt: FAR } as const
  const ends = [
    [waiting],
    [{ outcome: 'failed' }, waiting],
    [{ act: 'throw' }, {}, waiting],
    [{ outcome: 'queued', retryAt: FAR }],
    [{ outcome: 'rejected' }],
  ] as const
  const plan = {
    ...Object.fromEntries(
      orderIds.map((orderId, index) => [orderId, [...(ends[index % ends.length] ?? [])]]),
    ),
    [ENCLAVES_ORDER]: [{ ...waiting, waitMs: 1_500 }],
    policy: [
      { outcome: 'accepted', orgId: ORG, version: 1 },
      { outcome: 'rejected', code: 'wrong-version' },
      { act: 'throw' },
      { act: 'hang' },
      { outcome: 'failed', code: 'broker-unavailable' },
      { outcome: 'accepted', orgId: ORG, version: 1 },
    ],
  }
  await writeFile(`${scriptOf(directory)}.plan.json`, JSON.stringify(plan))
}

type Processes = Readonly<Record<Service, FuzzedProcess>>

async function fuzz(options: FuzzOptions, processes: Processes, world: World): Promise<FuzzReport> {
  const { seed, requests, rounds, print } = options
  const random = createRandom(seed)
  const tally = createTally()
  const held: Record<Service, Held[]> = { server: [], enclave: [] }
  const startedAt = performance.now()
  for (let round = 1; round <= rounds && !hasFailed(processes); round++) {
    await runRound({ random, world, processes, tally }, (requests * round) / rounds)
    const [server, enclave] = await Promise.all([untilQuiet(processes.server), untilQuiet(processes.enclave)])
    if (server === undefined || enclave === undefined) break
    held.server.push(server)
    held.enclave.push(enclave)
    print(lineOf(tally, server, (performance.now() - startedAt) / 1_000))
  }
  return {
    seed,
    requests: tally.requests(),
    exchanges: tally.exchanges(),
    seconds: (performance.now() - startedAt) / 1_000,
    answers: tally.answers(),
    held,
    violations: [...faultsOf(processes), ...tally.violations(), ...growthIn(held, tally.requestsTo())],
  }
}

function faultsOf({ server, enclave }: Processes): string[] {
  return [...server.faults, ...enclave.faults]
}

function hasFailed(processes: Processes): boolean {
  return faultsOf(processes).length > 0
}

interface Round {
  readonly random: Random
  readonly world: World
  readonly processes: Processes
  readonly tally: Tally
}

/** Until so many requests are sent altogether. */
async function runRound({ random, world, processes, tally }: Round, until: number): Promise<void> {
  async function call(callers: Readonly<Record<Service, Caller>>): Promise<void> {
    while (tally.requests() < until && !hasFailed(processes)) {
      const exchange: Exchange = nextExchange(random, world)
      tally.sent(exchange)
      tally.came(exchange, await callers[exchange.to].carryOut(exchange))
    }
    await Promise.all([callers.server.hangUp(), callers.enclave.hangUp()])
  }
  const { server, enclave } = processes
  const callers = () => ({ server: createCaller(server.port), enclave: createCaller(enclave.port) })
  await Promise.all(Array.from({ length: CALLERS }, () => call(callers())))
}

function lineOf(tally: Tally, held: Held, seconds: number): string {
  const mib = (held.heapUsed / 2 ** 20).toFixed(1)
  return `${tally.requests()} requests in ${seconds.toFixed(0)} s: heap ${mib} MiB, ${held.handles} handles, ${held.descriptors} descriptors, ${tally.violations().length} violations`
}
