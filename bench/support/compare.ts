import { type BareRoute, startBareServer } from './bareRoute.js'
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
  readonly bare: BareRoute
  /** The requests of a round; round 0 is the warm-up. The bare route gets the same ones. */
  readonly requests: (round: number) => readonly LoadRequest[]
  /** Whether each is sent once, instead of again and again for the time of a round. */
  readonly once: boolean
}

/** One round of one server. */
export interface Round extends LoadResult {
  /** Of the server's process, all threads; null where the system does not tell. */
  readonly cpuUsPerRequest: number | null
}

/** Length of the warm-up, which is not counted: the JIT compiler optimizes what has run a few thousand times. */
const WARM_UP_ROUNDS = 3

/** The two servers in one round, right after one another. */
export interface Pair {
  readonly ours: Round
  readonly bare: Round
}

export interface Comparison {
  readonly settings: Rounds
  readonly pairs: readonly Pair[]
  /** Unix ms of the first counted request and of the last. */
  readonly between: readonly [number, number]
}

/** A server answered something else than 2xx, so that its speed says nothing. */
export class FailedRequestsError extends Error {
  override readonly name = 'FailedRequestsError'
}

/**
 * Measures our server and a bare Express route in turns, never at the same time. Each round is a pair with a ratio of
 * its own: what else the machine does slows both. Who is first changes from round to round.
 */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const bare = await startBareServer(options.bare)
  const generator = startHelper('./loadGenerator.ts')
  const measure = (target: Target, round: number) => measureRound(generator, target, planOf(options, round))
  try {
    await measure(bare, 0)
    await measure(options.ours, 0)
    const from = Date.now()
    const pairs: Pair[] = []
    for (let round = 1; round <= options.rounds; round++) pairs.push(await measurePair(round))
    return { settings: settingsOf(options), pairs, between: [from, Date.now()] }
  } finally {
    await Promise.all([bare.stop(), generator.stop()])
  }

  async function measurePair(round: number): Promise<Pair> {
    if (round % 2 === 1) return { ours: await measure(options.ours, round), bare: await measure(bare, round) }
    return { bare: await measure(bare, round), ours: await measure(options.ours, round) }
  }
}

/** The figure of each round's pair, ours by bare. */
export function ratioOf({ pairs }: Comparison, of: (round: Round) => number): Spread {
  return spreadOf(pairs.map(({ ours, bare }) => of(ours) / of(bare)))
}

function settingsOf({ rounds, roundMs, connections }: Rounds): Rounds {
  return { rounds, roundMs, connections }
}

function planOf(options: CompareOptions, round: number): Omit<LoadPlan, 'url'> {
  const { requests, connections, once, roundMs } = options
  const durationMs = round === 0 ? WARM_UP_ROUNDS * roundMs : roundMs
  return { connections, requests: [...requests(round)], durationMs: once ? null : durationMs }
}

async function measureRound(
  generator: Helper,
  { url, pid }: Target,
  plan: Omit<LoadPlan, 'url'>,
): Promise<Round> {
  const before = await cpuMs(pid)
  const result = await generator.ask({ url, ...plan }, loadResultSchema)
  const after = await cpuMs(pid)
  const { answered, failed } = result
  if (failed > 0 || answered === 0)
    throw new FailedRequestsError(`${url}: ${failed} failed, ${answered} answered`)
  const cpuUs = before === null || after === null ? null : (after - before) * 1_000
  return { ...result, cpuUsPerRequest: cpuUs === null ? null : cpuUs / answered }
}
