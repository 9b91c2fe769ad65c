import { z } from 'zod'
import type { Bar, Row } from './figure.js'
import { type Generator, type LoadPlan, type LoadResult, startGenerator } from './load.js'
import type { PeerTask } from './peer.js'
import { cpuMs, startHelper } from './processes.js'
import { spreadOf } from './statistics.js'

/** A server that is measured. */
export interface Target {
  readonly url: string
  readonly pid: number
}

export interface Peer extends Target {
  stop(): Promise<void>
}

/** A server that ours is compared with, in its own process. */
export async function startPeer(task: PeerTask): Promise<Peer> {
  const helper = startHelper('./peer.ts')
  const { port } = await helper.ask(task, z.strictObject({ port: z.int() }))
  return { url: `http://127.0.0.1:${port}`, pid: helper.pid, stop: helper.stop }
}

/** Both peers of one of our routes: a bare route, and the usual middleware. They answer the same as ours. */
export async function withPeers<T>(
  route: Omit<Extract<PeerTask, { kind: 'plain' }>, 'kind'>,
  action: (peers: Record<'bare' | 'plain', Peer>) => Promise<T>,
): Promise<T> {
  const { directory: _, stores: __, ...bareRoute } = route
  const bare = await startPeer({ kind: 'bare', ...bareRoute })
  const plain = await startPeer({ kind: 'plain', ...route })
  try {
    return await action({ bare, plain })
  } finally {
    await Promise.all([bare.stop(), plain.stop()])
  }
}

/** One server in one round. */
export interface Turn extends LoadResult {
  /** CPU of all threads of the server's process, in µs for each good answer; NaN where the system does not tell. */
  readonly cpuUs: number
}

/** All servers, one right after the other, by name. */
export type Round = Readonly<Record<string, Turn>>

export interface CompareOptions {
  /** By the names of their rows. */
  readonly servers: Readonly<Record<string, Target>>
  readonly rounds: number
  /** The load of a round; round 0 is the warm-up. Every server gets the same. */
  readonly plan: (round: number) => Omit<LoadPlan, 'url'>
}

/** The warm-up is longer by this: the JIT compiler optimizes code that has run a few thousand times. */
const WARM_UP_ROUNDS = 3

/**
 * Measures servers in turns, never at the same time. Each round has ratios of its own, because other work on the machine slows
 * all of its turns. The first of a round is the last of the next.
 */
export async function compare({ servers, rounds, plan }: CompareOptions): Promise<Round[]> {
  const generator = startGenerator()
  const all = Object.entries(servers)
  try {
    const measured: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const own = round === 0 ? longer(plan(0)) : plan(round)
      const first = round % all.length
      const turns: Record<string, Turn> = {}
      for (const [name, target] of [...all.slice(first), ...all.slice(0, first)]) {
        turns[name] = await takeTurn(generator, target, own)
      }
      if (round > 0) measured.push(Object.fromEntries(all.map(([name]) => [name, turnOf(turns, name)])))
    }
    return measured
  } finally {
    await generator.stop()
  }
}

export async function takeTurn(
  generator: Generator,
  { url, pid }: Target,
  plan: Omit<LoadPlan, 'url'>,
): Promise<Turn> {
  const before = await cpuMs(pid)
  const result = await generator.loadAll({ url, ...plan })
  return { ...result, cpuUs: (((await cpuMs(pid)) - before) * 1_000) / result.good }
}

function longer(plan: Omit<LoadPlan, 'url'>): Omit<LoadPlan, 'url'> {
  return plan.durationMs === null ? plan : { ...plan, durationMs: WARM_UP_ROUNDS * plan.durationMs }
}

/** A row for each server. */
export function rowsOf(rounds: readonly Round[]): Row[] {
  return Object.keys(rounds[0] ?? {}).map((what) => {
    const spread = (of: (turn: Turn) => number) => spreadOf(rounds.map((round) => of(turnOf(round, what))))
    const cpu = spread(({ cpuUs }) => cpuUs)
    const cells = {
      'requests/s': spread(({ perSecond }) => perSecond),
      'p50 ms': spread(({ p50Ms }) => p50Ms),
      'p99 ms': spread(({ p99Ms }) => p99Ms),
      'CPU µs': cpu,
      // Other work on the machine only ever adds to it.
      'least CPU µs': cpu.min,
    }
    return { what, cells }
  })
}

/** Ours by a peer's in each round, by default of the requests per second. */
export function ratioBar(
  rounds: readonly Round[],
  peer: string,
  limit: Pick<Bar, 'atLeast' | 'atMost'> = {},
  { of = ({ perSecond }: Turn) => perSecond, name = 'requests/s' } = {},
): Bar {
  const value = spreadOf(rounds.map((round) => of(turnOf(round, 'ours')) / of(turnOf(round, peer))))
  return { what: `${name}, ours ÷ ${peer}`, value, ...limit }
}

export function turnOf(round: Round, name: string): Turn {
  const turn = round[name]
  if (turn === undefined) throw new Error(`${name} was not measured`)
  return turn
}
