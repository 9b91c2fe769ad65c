import { type Helper, startHelper } from './childProcess.js'
import { cpuMs } from './cpuTime.js'
import { type LoadPlan, type LoadRequest, type LoadResult, loadResultSchema } from './load.js'
import { type Spread, spreadOf } from './statistics.js'

/** How much is measured. */
export interface Rounds {
  readonly rounds: number
  readonly roundMs: number
  readonly connections: number
}

/** A server that is measured. */
export interface Target {
  readonly url: string
  readonly pid: number
}

export interface CompareOptions extends Rounds {
  readonly ours: Target
  /** What our server is compared with, by the name of its column. */
  readonly peers: Readonly<Record<string, Target>>
  /** The requests of a round; round 0 is the warm-up. Every server gets the same ones. */
  readonly requests: (round: number) => readonly LoadRequest[]
  /** Whether each is sent once, instead of again and again for the time of a round. */
  readonly once: boolean
}

/** One server in one round. */
export interface Turn extends LoadResult {
  /** CPU of all threads of the server's process; null where the system does not tell. */
  readonly cpuUsPerRequest: number | null
}

/** Length of the warm-up, which is not counted: the JIT compiler optimizes what has run a few thousand times. */
const WARM_UP_ROUNDS = 3

/** All servers, one right after the other. */
export interface Round {
  readonly ours: Turn
  readonly peers: Readonly<Record<string, Turn>>
}

export interface Comparison {
  readonly settings: Rounds
  readonly rounds: readonly Round[]
  /** Unix ms of the first counted request and of the last. */
  readonly between: readonly [number, number]
}

/** A server answered something else than 2xx, so that its speed says nothing. */
export class FailedRequestsError extends Error {
  override readonly name = 'FailedRequestsError'
}

/**
 * Measures our server and its peers in turns, never at the same time. Each round has ratios of its own: what else the machine
 * does slows all of them. The first of a round is the last of the next.
 */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const generator = startHelper('./loadGenerator.ts')
  const servers = Object.entries({ ...options.peers, [OURS]: options.ours })
  const measureRound = async (round: number): Promise<Round> => {
    const first = round % servers.length
    const turns: Record<string, Turn> = {}
    for (const [name, target] of [...servers.slice(first), ...servers.slice(0, first)]) {
      turns[name] = await measureTurn(generator, target, planOf(options, round))
    }
    const { [OURS]: ours, ...peers } = turns
    if (ours === undefined) throw new Error('our turn is missing')
    return { ours, peers }
  }
  try {
    await measureRound(0)
    const from = Date.now()
    const rounds: Round[] = []
    for (let round = 1; round <= options.rounds; round++) rounds.push(await measureRound(round))
    return { settings: settingsOf(options), rounds, between: [from, Date.now()] }
  } finally {
    await generator.stop()
  }
}

const OURS = 'ours'

/** The figure of each round's two turns, ours by the peer's. */
export function ratioOf({ rounds }: Comparison, peer: string, of: (turn: Turn) => number): Spread {
  return spreadOf(rounds.map(({ ours, peers }) => of(ours) / of(turnOf(peers, peer))))
}

export function turnOf(peers: Round['peers'], name: string): Turn {
  const turn = peers[name]
  if (turn === undefined) throw new Error(`${name} was not measured`)
  return turn
}

function settingsOf({ rounds, roundMs, connections }: Rounds): Rounds {
  return { rounds, roundMs, connections }
}

function planOf(options: CompareOptions, round: number): Omit<LoadPlan, 'url'> {
  const { requests, connections, once, roundMs } = options
  const durationMs = round === 0 ? WARM_UP_ROUNDS * roundMs : roundMs
  return { connections, requests: [...requests(round)], durationMs: once ? null : durationMs }
}

async function measureTurn(
  generator: Helper,
  { url, pid }: Target,
  plan: Omit<LoadPlan, 'url'>,
): Promise<Turn> {
  const before = await cpuMs(pid)
  const result = await generator.ask({ url, ...plan }, loadResultSchema)
  const after = await cpuMs(pid)
  const { answered, failed } = result
  if (failed > 0 || answered === 0)
    throw new FailedRequestsError(`${url}: ${failed} failed, ${answered} answered`)
  const cpuUs = before === null || after === null ? null : (after - before) * 1_000
  return { ...result, cpuUsPerRequest: cpuUs === null ? null : cpuUs / answered }
}
